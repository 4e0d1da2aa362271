"""The service stack: everything that can be made anew from the code. Read it as the table of contents."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import aws_cdk as cdk
from constructs import Construct

from infra.config import StageConfig
from infra.environment import (
    api_environment,
    sweeper_environment,
    tenant_token_environment,
    worker_environment,
)
from infra.grants import grant_api, grant_models, grant_sweeper, grant_tenant_token, grant_worker
from infra.parts.bundle import Bundle
from infra.parts.function import Function, Shape
from infra.parts.http_api import JobsApi
from infra.parts.identity import Identity
from infra.parts.job_queue import JobQueue
from infra.parts.schedule import sweep_every_minute
from infra.stacks.state import StateStack

# Memory is CPU: people wait for the API and for a token, so their cold start counts; the worker itself waits.
API = Shape(handler="onceward.handlers.api.handler", memory_mb=1024, timeout_seconds=29)  # the HTTP API hangs up at 30
SWEEPER = Shape(
    handler="onceward.handlers.sweeper.handler",
    memory_mb=256,
    timeout_seconds=55,  # below its minute: passes do not pile up
    quiet=True,  # 43,000 idle passes a month: the platform's lines would cost more than the passes
)
TENANT_TOKEN = Shape(
    handler="onceward.handlers.tenant_token.handler",
    memory_mb=1024,
    timeout_seconds=5,  # Cognito waits no longer
)
WORKER_HANDLER = "onceward.handlers.worker.handler"
TEST_API_HANDLER = "tests.support.deployed.api.handler"  # the API that also knows the tests' kinds
TEST_WORKER_HANDLER = "tests.support.deployed.worker.handler"  # the worker behind the tests' crash points


class ServiceStack(cdk.Stack):
    """Functions, queue, API, schedule and user pool of one stage."""

    def __init__(self, scope: Construct, config: StageConfig, state: StateStack, bundle: Bundle) -> None:
        """Make them from the one asset, over the given state."""
        super().__init__(scope, f"OncewardService-{config.stage}", description="Onceward: API, worker, sweeper")
        queue = self.queue = JobQueue(self, config)

        make = partial(Function, self, config=config, bundle=bundle)
        api = self.api = make("ApiFunction", shape=_api(config), environment=api_environment(config, state, queue))
        worker = self.worker = make(
            "WorkerFunction", shape=_worker(config), environment=worker_environment(config, state, queue)
        )
        sweeper = self.sweeper = make(
            "SweeperFunction", shape=SWEEPER, environment=sweeper_environment(config, state, queue)
        )
        grant_api(api, state, queue)
        grant_worker(worker, state, queue)
        grant_models(worker, config)
        grant_sweeper(sweeper, state, queue)

        queue.feed(worker.function)
        if config.sweeper_schedule:
            sweep_every_minute(self, sweeper.function)
        issuer, audience = config.issuer, list(config.audience)
        if issuer is None:
            identity = self._identity(config, state, bundle)
            issuer, audience = identity.issuer, identity.audience
        http = self.http = JobsApi(self, config, api.function, issuer=issuer, audience=audience)

        self._output("ApiUrl", http.url)
        self._output("ApiId", http.api.api_id)
        self._output("JobsQueueUrl", queue.jobs.queue_url)
        self._output("DeadLettersQueueUrl", queue.dead_letters.queue_url)
        self._output("ApiFunction", api.function.function_name)
        self._output("WorkerFunction", worker.function.function_name)
        self._output("SweeperFunction", sweeper.function.function_name)

    def _identity(self, config: StageConfig, state: StateStack, bundle: Bundle) -> Identity:
        """Make the user pool and the function that puts tenant and scopes into its tokens."""
        told = tenant_token_environment(config, state)
        trigger = Function(
            self, "TenantTokenFunction", config=config, bundle=bundle, shape=TENANT_TOKEN, environment=told
        )
        grant_tenant_token(trigger, state)
        identity = Identity(self, config, trigger.function)
        self._output("UserPoolId", identity.pool.user_pool_id)
        self._output("UserPoolDomain", identity.domain)
        self._output("TokenUrl", identity.token_url)
        self._output("UsersClientId", identity.users_client.user_pool_client_id)
        for name, client in identity.machine_clients.items():
            self._output(f"Client{name.title().replace('-', '')}Id", client.user_pool_client_id)
        return identity

    def _output(self, name: str, value: str) -> None:
        """Publish a value under exactly this name: the local cloud and the operator read it."""
        cdk.CfnOutput(self, f"Output{name}", value=value).override_logical_id(name)


def _api(config: StageConfig) -> Shape:
    """Shape the API; only a test's bundle has the handler with the tests' kinds."""
    return replace(API, handler=TEST_API_HANDLER) if config.test_handlers else API


def _worker(config: StageConfig) -> Shape:
    """Shape the worker; only a test's bundle has the handler with the crash points."""
    return Shape(
        handler=TEST_WORKER_HANDLER if config.test_handlers else WORKER_HANDLER,
        memory_mb=config.worker_memory_mb,
        timeout_seconds=config.worker_timeout_seconds,
    )
