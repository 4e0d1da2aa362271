"""Where the names of infra and of the functions meet."""

import importlib
from datetime import timedelta

import pytest
from botocore.config import Config

from infra.config import StageConfig
from onceward.adapters import s3, sqs
from onceward.adapters.dynamodb import client as dynamodb
from onceward.domain.policy import MOST_ATTEMPTS
from onceward.domain.timing import Timing
from onceward.handlers.meter import NAMESPACE
from onceward.handlers.settings import (
    PREFIX,
    ApiSettings,
    Settings,
    SweeperSettings,
    TenantTokenSettings,
    WorkerSettings,
)
from onceward.providers.capabilities import LOOKUP_LAG
from tests.infra.templates import Assembly, Template, environment, function

SETTINGS: dict[str, type[Settings]] = {
    "Api": ApiSettings,
    "Worker": WorkerSettings,
    "Sweeper": SweeperSettings,
    "TenantToken": TenantTokenSettings,
}
POWERTOOLS = {"POWERTOOLS_SERVICE_NAME", "POWERTOOLS_LOG_LEVEL", "POWERTOOLS_METRICS_NAMESPACE"}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_function_is_told_exactly_the_fields_of_its_settings(service: Template, name: str) -> None:
    """Neither a variable that nobody reads nor a field that nobody sets."""
    fields = {PREFIX + field.upper() for field in SETTINGS[name].model_fields}

    assert fields | POWERTOOLS == set(environment(service, name))


@pytest.mark.parametrize("name", SETTINGS)
def test_the_metrics_namespace_is_the_functions_own(service: Template, name: str) -> None:
    """Dashboards and alarms, which read it in the template's namespace, find what the functions write."""
    assert environment(service, name)["POWERTOOLS_METRICS_NAMESPACE"] == NAMESPACE


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("stage", ["dev", "local", "prod"])
def test_the_values_are_read_by_the_settings(assembly: Assembly, stage: str, name: str) -> None:
    """What the template spells, the function's model accepts; a reference stands for some text."""
    told = {
        key: value if isinstance(value, str) else "text"
        for key, value in environment(assembly.service(stage), name).items()
    }

    assert SETTINGS[name].from_environment(told).stage == stage


@pytest.mark.parametrize("name", SETTINGS)
def test_handler_strings_name_code_that_exists(service: Template, name: str) -> None:
    """A function whose handler cannot be found fails at its first event, not at the deploy."""
    module, _, attribute = function(service, name)["Handler"].rpartition(".")

    assert importlib.util.find_spec(module) is not None
    assert attribute == "handler"


def test_only_a_test_stack_has_crash_points_and_a_fault_proxy(assembly: Assembly) -> None:
    """Both are switched on by parameters that no stage sets by itself."""
    assert function(assembly.service("test"), "Worker")["Handler"] == "tests.support.deployed.worker.handler"
    assert environment(assembly.service("test"), "Worker")["AWS_ENDPOINT_URL"] == "http://127.0.0.1:9"
    for stage in ("dev", "local", "prod"):
        assert function(assembly.service(stage), "Worker")["Handler"] == "onceward.handlers.worker.handler"
        assert "AWS_ENDPOINT_URL" not in environment(assembly.service(stage), "Worker")


@pytest.mark.failure_mode("F42")
@pytest.mark.parametrize("config", [dynamodb.CONFIG, sqs.CONFIG, s3.CONFIG], ids=["dynamodb", "sqs", "s3"])
def test_a_service_that_does_not_answer_is_told_while_the_client_waits(service: Template, config: Config) -> None:
    """All sends together, with the SDK's pauses, end before the API's own time: a 503 of ours, not the gateway's."""
    sends = config.retries["total_max_attempts"]  # type: ignore[attr-defined]
    pauses = sum(2**repeat for repeat in range(sends - 1))  # seconds at most: drawn from nothing to this
    seconds = sends * (config.connect_timeout + config.read_timeout) + pauses  # type: ignore[attr-defined]

    assert seconds < function(service, "Api")["Timeout"]


def test_a_message_is_delivered_often_enough_for_the_most_attempts() -> None:
    """Two deliveries an attempt and ten for infrastructure; else SQS would give a job up before its policy does."""
    assert StageConfig().max_receive_count >= 2 * MOST_ATTEMPTS + 10


def test_the_stacks_default_times_are_those_of_the_domain() -> None:
    """One protocol, one set of times: what simulation runs with is what a deploy gets."""
    config, timing = StageConfig(), Timing()

    assert timing == Timing(
        lease=timedelta(seconds=config.lease_seconds),
        heartbeat=timedelta(seconds=config.heartbeat_seconds),
        skew_allowance=timedelta(seconds=config.skew_allowance_seconds),
        due_grace=timedelta(seconds=config.due_grace_seconds),
        send_window=timedelta(seconds=config.send_window_seconds),
        settle_budget=timedelta(seconds=config.settle_seconds),
        infrastructure_backoff=timedelta(seconds=config.infrastructure_backoff_seconds),
        infrastructure_backoff_max=timedelta(seconds=config.infrastructure_backoff_max_seconds),
    )
    assert timedelta(seconds=config.lookup_lag_seconds) == LOOKUP_LAG
