"""Decide every parameter of a stage: defaults here, overrides by ``cdk -c name=value``.

A frozen model, so that no part can change what another has read. ``app.py`` alone hands in the context; an
unknown name is an error, because a misspelt override would otherwise deploy the default in silence.
Times are seconds, sizes are MB, unless a name says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from infra.models import (
    NAMES,
    URLS,
    Answers,
    ByKind,
    ModelApi,
    Origins,
    Prices,
    Promise,
    check_promise,
    model_defaults,
)

DISPOSABLE_STAGES = frozenset({"dev", "local", "test"})  # every other name is taken for one whose data matters
EMULATED_STAGES = frozenset({"local", "test"})  # deployed into the local cloud, never into AWS
LONGEST_LAMBDA_SECONDS = 900
VISIBILITY_FACTOR = 6  # AWS: a queue's visibility timeout is six times the function's timeout, for throttled retries
SCOPES = ("jobs:read", "jobs:write", "actions", "ops")
MACHINE_SCOPES = ("jobs:read", "jobs:write", "actions")  # which actions: the client's entry says
LogDays = Literal[1, 7, 14, 30, 90, 365]  # of those that CloudWatch Logs knows
NAME = r"^[a-z][a-z0-9-]{0,19}$"  # it goes into stack names, export names and a domain prefix


class MachineClient(BaseModel):
    """One client-credentials client of the user pool, and the scopes that it may ask for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=NAME)]
    scopes: tuple[Literal["jobs:read", "jobs:write", "actions", "ops"], ...] = MACHINE_SCOPES  # type: ignore[assignment]


def _listed(value: object) -> object:
    """Read ``a,b`` of the command line as a tuple."""
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


def _clients(value: object) -> object:
    """Read ``acme,operator=jobs:read+ops`` of the command line as machine clients."""
    if not isinstance(value, str):
        return value
    read = []
    for part in value.split(","):
        name, _, scopes = part.strip().partition("=")
        if name:
            read.append({"name": name, "scopes": tuple(scopes.split("+"))} if scopes else {"name": name})
    return tuple(read)


Listed = Annotated[tuple[str, ...], BeforeValidator(_listed)]
Clients = Annotated[tuple[MachineClient, ...], BeforeValidator(_clients)]


class StageConfig(BaseModel):
    """All parameters of one stage; each field is also a name for ``cdk -c``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    stage: Annotated[str, Field(pattern=NAME)] = "dev"
    platform: Literal["aarch64-manylinux2014", "x86_64-manylinux2014", "host"] = "aarch64-manylinux2014"
    protect: bool = True  # deletion protection, and RETAIN for what holds data
    log_retention_days: LogDays = 30
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"

    # The protocol's times: functions/onceward/handlers/settings.py says who reads which.
    lease_seconds: Annotated[float, Field(gt=0)] = 60
    heartbeat_seconds: Annotated[float, Field(gt=0)] = 20
    skew_allowance_seconds: Annotated[float, Field(ge=0)] = 2
    due_grace_seconds: Annotated[float, Field(ge=0)] = 30
    send_window_seconds: Annotated[float, Field(gt=0)] = 10  # from the journal to the socket
    settle_seconds: Annotated[float, Field(gt=0)] = 10
    infrastructure_backoff_seconds: Annotated[float, Field(gt=0)] = 30
    infrastructure_backoff_max_seconds: Annotated[float, Field(gt=0)] = 300
    calls_per_provider: Annotated[int, Field(ge=1)] = 10
    breaker_failures: Annotated[int, Field(ge=0)] = 5  # in a row, of one provider's model; 0: no circuit breakers
    # Of a first opening; doubled by each in a row, ten times at most.
    breaker_pause_seconds: Annotated[float, Field(gt=0)] = 30

    batch_size: Annotated[int, Field(ge=1, le=10)] = 10  # above 10, SQS wants a batching window
    batching_window_seconds: Annotated[int, Field(ge=0, le=300)] = 0
    maximum_concurrency: Annotated[int, Field(ge=2, le=1000)] = 10  # 2 is the least that an event source takes
    max_receive_count: Annotated[int, Field(ge=5, le=1000)] = 50  # 2 x the largest max_attempts + 10, see tests/infra
    queue_retention_days: Annotated[int, Field(ge=1, le=13)] = 4  # below the dead letters' 14: a move keeps the age
    worker_timeout_seconds: Annotated[int, Field(ge=1, le=LONGEST_LAMBDA_SECONDS)] = LONGEST_LAMBDA_SECONDS
    worker_memory_mb: Annotated[int, Field(ge=128, le=10240)] = 512
    worker_endpoint_url: str | None = None  # tests only: a fault proxy between the worker and the cloud
    test_handlers: bool = False  # tests only: bundle the crash points of tests/support
    sweeper_schedule: bool = True

    model_api: ModelApi = "openai"
    model_url: str = URLS["openai"]
    model_name: str = NAMES["openai"]
    model_capability: Promise = "none"  # only what the provider documents
    model_answers: Answers = "now"  # or "later", "batch": submitted, and polled by reference; no Lambda waits
    model_by_kind: ByKind = {}  # kinds that ask another model
    model_prices: Prices = {}  # they go before the dated table of the package
    lookup_lag_seconds: Annotated[float, Field(ge=0)] = 1  # how long after a call ended its lookup may not know of it

    target_origins: Origins = {}  # where a declared target's host is on this stage: {"host": "https://other-host"}

    issuer: str | None = None  # an OIDC issuer of your own; without one the stack makes a Cognito user pool
    audience: Listed = ()  # accepted ``aud`` or ``client_id`` of that issuer
    tenant_claim: str = "tenant"
    scope_claim: str = "scope"
    clients: Clients = ()
    cors_origins: Listed = ()
    throttle_rate: Annotated[float, Field(gt=0)] = 100  # requests a second over all tenants
    throttle_burst: Annotated[int, Field(ge=1)] = 200
    creates_per_minute: Annotated[int, Field(ge=0)] = 0  # of each tenant; 0: no limit, and no counting write a create
    documents_per_day: Annotated[int, Field(ge=0)] = 0  # upload forms of each tenant, by the day in UTC; 0: no limit
    participants_per_flight: Annotated[int, Field(ge=1, le=1000)] = 100  # beyond it a job runs on its own
    flights_per_tenant: Annotated[int, Field(ge=0)] = 100  # under way at once; beyond it a job runs on its own

    observability: bool = True  # dashboard and alarms; the local cloud takes no metrics from logs, so none there
    alarm_email: str | None = None  # who is told; without one, subscribe to the topic yourself
    queue_age_alarm_seconds: Annotated[int, Field(ge=60)] = 900
    review_age_alarm_hours: Annotated[float, Field(gt=0)] = 24
    unknown_outcomes_alarm: Annotated[int, Field(ge=1)] = 5  # in an hour
    takeovers_alarm: Annotated[int, Field(ge=1)] = 5  # in an hour
    hourly_spend_alarm_usd: Annotated[float, Field(gt=0)] = 10  # possible spending included
    api_errors_alarm: Annotated[int, Field(ge=1)] = 5  # in five minutes
    create_latency_alarm_seconds: Annotated[float, Field(gt=0)] = 3  # the 95th percentile, in the function

    @classmethod
    def of(cls, given: Mapping[str, object]) -> Self:
        """Lay the given values over the stage's defaults; ``pydantic.ValidationError`` names what is wrong."""
        return cls.model_validate({**stage_defaults(str(given.get("stage", "dev"))), **model_defaults(given), **given})

    @model_validator(mode="after")
    def _times_fit(self) -> Self:
        """Refuse a stage that could not keep its own promises."""
        if self.heartbeat_seconds * 2 + self.skew_allowance_seconds + self.lease_seconds / 10 >= self.lease_seconds:
            raise ValueError(
                "lease_seconds must be more than two heartbeats, the skew allowance and a tenth of itself: one lost "
                "beat may not lose a job, and in what is left of a lease something must still be sent"
            )
        if self.infrastructure_backoff_max_seconds < self.infrastructure_backoff_seconds:
            raise ValueError("infrastructure_backoff_max_seconds is below infrastructure_backoff_seconds")
        if bool(self.issuer) != bool(self.audience):
            raise ValueError("issuer and audience go together: a token is checked against both or the pool's")
        if self.issuer and self.clients:
            raise ValueError(
                "clients are made in the stack's own user pool; with an issuer of your own, make them there"
            )
        return self

    @model_validator(mode="after")
    def _models_fit(self) -> Self:
        """Refuse a promise that the model's API cannot keep."""
        check_promise(self.model_api, self.model_capability, self.model_answers)
        return self

    @property
    def targets_are_local(self) -> bool:
        """Say whether declared targets may be reached by plain HTTP on loopback: in the local cloud only."""
        return self.stage in EMULATED_STAGES

    @property
    def visibility_timeout_seconds(self) -> int:
        """Say how long SQS hides a message by default; the worker then sets it to the lease."""
        return VISIBILITY_FACTOR * self.worker_timeout_seconds + self.batching_window_seconds


def stage_defaults(stage: str) -> dict[str, object]:
    """Say in what a stage differs from the defaults above."""
    defaults: dict[str, object] = {"stage": stage, "protect": stage not in DISPOSABLE_STAGES}
    if stage in EMULATED_STAGES:
        defaults["platform"] = "host"
        defaults["observability"] = False
        defaults["clients"] = (
            MachineClient(name="acme"),
            MachineClient(name="globex"),
            MachineClient(name="operator", scopes=SCOPES),  # type: ignore[arg-type]
        )
    return defaults
