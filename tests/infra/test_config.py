"""The parameters of a stage: defaults, overrides, refusals."""

import pytest
from pydantic import ValidationError

from infra.config import SCOPES, StageConfig


def test_a_parameter_of_the_command_line_overrides_the_default() -> None:
    """Everything that ``cdk -c`` gives arrives as text and is read by its type."""
    config = StageConfig.of(
        {"stage": "test", "lease_seconds": "5.5", "heartbeat_seconds": "0.5", "test_handlers": "true"}
    )

    assert (config.lease_seconds, config.heartbeat_seconds, config.test_handlers) == (5.5, 0.5, True)


def test_clients_and_origins_are_lists_on_the_command_line() -> None:
    """``a,b=scope+scope`` names machine clients; a plain name gets what a tenant's machine needs."""
    config = StageConfig.of(
        {"clients": "acme, boss=jobs:read+ops", "cors_origins": "https://a.example,https://b.example"}
    )

    assert [(client.name, client.scopes) for client in config.clients] == [
        ("acme", ("jobs:read", "jobs:write", "actions")),
        ("boss", ("jobs:read", "ops")),
    ]
    assert config.cors_origins == ("https://a.example", "https://b.example")


def test_a_stage_of_unknown_name_is_protected() -> None:
    """Forgetting to say that a stage matters may not cost its data."""
    assert [StageConfig.of({"stage": name}).protect for name in ("dev", "local", "test", "prod", "anything")] == [
        False,
        False,
        False,
        True,
        True,
    ]


def test_only_emulated_stages_have_machine_clients_and_the_host_platform() -> None:
    """On AWS a machine client costs money and functions run on arm64."""
    local, dev = StageConfig.of({"stage": "local"}), StageConfig.of({"stage": "dev"})

    assert [client.name for client in local.clients] == ["acme", "globex", "operator"]
    assert [client.scopes for client in local.clients if client.name == "operator"] == [SCOPES]
    assert (local.platform, dev.platform, dev.clients) == ("host", "aarch64-manylinux2014", ())


@pytest.mark.parametrize(
    "wrong",
    [
        {"lease_secs": "3"},
        {"stage": "Prod"},
        {"lease_seconds": "10"},
        {"lease_seconds": "45", "skew_allowance_seconds": "1"},  # a lost beat would leave the margin, and nothing more
        {"infrastructure_backoff_seconds": "400"},
        {"maximum_concurrency": "1"},
        {"issuer": "https://id.example"},
        {"stage": "local", "issuer": "https://id.example", "audience": "onceward"},
        {"clients": "acme=admin"},
        {"log_retention_days": "2"},
        {"creates_per_minute": "-1"},
        {"documents_per_day": "many"},
    ],
)
def test_a_parameter_that_cannot_be_meant_is_refused(wrong: dict[str, object]) -> None:
    """A misspelt name, a value out of range or a pair that contradicts itself never becomes a stack."""
    with pytest.raises(ValidationError):
        StageConfig.of(wrong)


def test_no_tenant_is_limited_unless_the_stage_says_so() -> None:
    """A counting write for each create is not everybody's wish."""
    config = StageConfig()

    assert (config.creates_per_minute, config.documents_per_day) == (0, 0)


def test_a_message_is_hidden_for_six_timeouts_and_the_window() -> None:
    """AWS's rule for a queue that feeds a function."""
    config = StageConfig.of({"worker_timeout_seconds": "100", "batching_window_seconds": "5"})

    assert config.visibility_timeout_seconds == 605
