"""The only reader of the environment: one model per function, whose fields are the function's variables.

Field ``jobs_table`` is read from ``ONCEWARD_JOBS_TABLE``. ``tests/infra`` compares these fields with the
variables that the stack gives each function, so neither side can name one that the other does not know.
Times are seconds. A missing or malformed variable is a ``pydantic.ValidationError`` at cold start, before any work.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Json

type ModelApi = Literal["openai", "anthropic", "bedrock"]
type Promise = Literal["none", "dedupes", "lookup", "stored"]
type Answers = Literal["now", "later", "batch"]

PREFIX = "ONCEWARD_"


class Settings(BaseModel):
    """What every function is told: its stage."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    stage: str

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None) -> Self:
        """Read this model's fields from ``ONCEWARD_*`` and nothing else."""
        source = os.environ if environ is None else environ
        given = {name: source[PREFIX + name.upper()] for name in cls.model_fields if PREFIX + name.upper() in source}
        return cls.model_validate(given)


class ApiSettings(Settings):
    """What the HTTP API needs to store a job, wake a worker and hand out upload forms; a limit of 0 is none."""

    jobs_table: str
    accounts_table: str
    flights_table: str
    bucket: str
    jobs_queue_url: str
    due_grace_seconds: float
    skew_allowance_seconds: float
    tenant_claim: str
    scope_claim: str
    creates_per_minute: int
    documents_per_day: int


class KindModel(BaseModel):
    """The model of one kind, where it is another than everybody's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    api: ModelApi
    url: str
    name: str
    capability: Promise = "none"
    answers: Answers = "now"


class OwnPrice(BaseModel):
    """The deployment's own word on what a model costs: micro-USD for a million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: int
    cached: int
    output: int
    cache_write: int | None = None


class WorkerSettings(Settings):
    """What the worker needs to lease, call, settle and write dead letters; ``breaker_failures`` of 0: no breakers."""

    jobs_table: str
    accounts_table: str
    bucket: str
    jobs_queue_url: str
    dead_letters_queue_url: str
    max_receive_count: int
    lease_seconds: float
    heartbeat_seconds: float
    skew_allowance_seconds: float
    due_grace_seconds: float
    send_window_seconds: float
    settle_seconds: float
    infrastructure_backoff_seconds: float
    infrastructure_backoff_max_seconds: float
    calls_per_provider: int
    breaker_failures: int
    breaker_pause_seconds: float
    model_api: ModelApi
    model_url: str
    model_name: str
    model_secret_id: str
    model_capability: Promise
    model_answers: Answers = "now"
    model_by_kind: Json[dict[str, KindModel]] = {}
    model_prices: Json[dict[str, OwnPrice]] = {}
    lookup_lag_seconds: float
    flights_table: str
    participants_per_flight: int
    flights_per_tenant: int
    target_origins: Json[dict[str, str]] = {}
    targets_are_local: bool


class SweeperSettings(Settings):
    """What the sweeper needs to find due jobs and wake them."""

    jobs_table: str
    jobs_queue_url: str
    dead_letters_queue_url: str
    skew_allowance_seconds: float


class TenantTokenSettings(Settings):
    """What the token trigger needs to look up a machine client's tenant and scopes."""

    accounts_table: str
