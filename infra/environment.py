"""Say what each function is told: one variable for each field of its settings model, and no other.

``functions/onceward/handlers/settings.py`` reads them; ``tests/infra`` compares the two, as neither may import
the other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from infra.config import StageConfig
from infra.models import as_json
from infra.parts.job_queue import JobQueue
from infra.stacks.state import StateStack


def api_environment(config: StageConfig, state: StateStack, queue: JobQueue) -> dict[str, str]:
    """Tell the API where jobs are stored and sent, and which claims name tenant and scopes."""
    return _variables(
        config,
        "due_grace_seconds",
        "skew_allowance_seconds",
        "tenant_claim",
        "scope_claim",
        "creates_per_minute",
        "documents_per_day",
        jobs_table=state.jobs.table_name,
        accounts_table=state.accounts.table_name,
        flights_table=state.flights.table_name,
        bucket=state.bucket.bucket_name,
        jobs_queue_url=queue.jobs.queue_url,
    )


def worker_environment(config: StageConfig, state: StateStack, queue: JobQueue) -> dict[str, str]:
    """Tell the worker its stores, its times and its model; the model's key is read from the secret, never from here."""
    variables = _variables(
        config,
        "max_receive_count",
        "lease_seconds",
        "heartbeat_seconds",
        "skew_allowance_seconds",
        "due_grace_seconds",
        "send_window_seconds",
        "settle_seconds",
        "infrastructure_backoff_seconds",
        "infrastructure_backoff_max_seconds",
        "calls_per_provider",
        "breaker_failures",
        "breaker_pause_seconds",
        "model_api",
        "model_url",
        "model_name",
        "model_capability",
        "model_answers",
        "lookup_lag_seconds",
        "participants_per_flight",
        "flights_per_tenant",
        "targets_are_local",
        jobs_table=state.jobs.table_name,
        accounts_table=state.accounts.table_name,
        flights_table=state.flights.table_name,
        bucket=state.bucket.bucket_name,
        jobs_queue_url=queue.jobs.queue_url,
        dead_letters_queue_url=queue.dead_letters.queue_url,
        model_secret_id=state.model_secret_arn,
        model_by_kind=as_json(config.model_by_kind),
        model_prices=as_json(config.model_prices),
        target_origins=json.dumps(config.target_origins, sort_keys=True),
    )
    if config.worker_endpoint_url is None:
        return variables
    return {**variables, "AWS_ENDPOINT_URL": config.worker_endpoint_url}


def sweeper_environment(config: StageConfig, state: StateStack, queue: JobQueue) -> dict[str, str]:
    """Tell the sweeper what to look through and whom to wake."""
    return _variables(
        config,
        "skew_allowance_seconds",
        jobs_table=state.jobs.table_name,
        jobs_queue_url=queue.jobs.queue_url,
        dead_letters_queue_url=queue.dead_letters.queue_url,
    )


def tenant_token_environment(config: StageConfig, state: StateStack) -> dict[str, str]:
    """Tell the token trigger where a client's tenant stands."""
    return _variables(config, accounts_table=state.accounts.table_name)


def _variables(config: StageConfig, *parameters: str, **resources: str) -> dict[str, str]:
    """Spell the stage, the named parameters and the resources as variables."""
    values: Mapping[str, object] = {
        "stage": config.stage,
        **{name: getattr(config, name) for name in parameters},
        **resources,
    }
    return {f"ONCEWARD_{name.upper()}": str(value) for name, value in values.items()}
