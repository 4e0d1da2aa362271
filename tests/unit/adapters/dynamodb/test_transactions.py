"""What a refused transaction's reasons mean, and how long a busy store is borne with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from onceward.adapters.dynamodb.patience import PAUSES, Patience
from onceward.adapters.dynamodb.row_codec import to_row
from onceward.adapters.dynamodb.store import DynamoStore
from onceward.adapters.dynamodb.table import Tables
from onceward.adapters.dynamodb.transactions import read_reasons
from onceward.domain.change import Fields, RowChange
from onceward.domain.ending import Verdict, settle_ops
from onceward.domain.states import JobState
from onceward.domain.transaction import Applied, CreateRow, Refused, WriteReply
from onceward.errors import StoreBusy, StoreUnavailable
from tests.support.builders import NOW, TOKEN, a_job, a_running_job

JOB = a_running_job(reserved_micro_usd=400)
OPS = settle_ops(JOB, TOKEN, Verdict(state=JobState.SUCCEEDED, charge_micro_usd=300), NOW)
FINE = {"Code": "None"}
REFUSED = {"Code": "ConditionalCheckFailed"}
REFUSED_ROW = {**REFUSED, "Item": to_row(JOB)}
CONFLICT = {"Code": "TransactionConflict"}
THROTTLED = {"Code": "ThrottlingError"}

type Reasons = Sequence[dict[str, Any]]


@pytest.mark.failure_mode("F11")
@pytest.mark.parametrize(
    ("reasons", "meaning"),
    [
        ((REFUSED_ROW, FINE, FINE), Refused(row=JOB, is_row_refused=True)),
        ((REFUSED, FINE, FINE), Refused(is_row_refused=True)),
        ((FINE, REFUSED, FINE), Refused(is_account_refused=True)),
        ((FINE, FINE, REFUSED), Refused(is_entry_refused=True)),
        ((FINE, REFUSED, REFUSED), Refused(is_account_refused=True, is_entry_refused=True)),
        ((REFUSED_ROW, CONFLICT, FINE), Refused(row=JOB, is_row_refused=True)),
        ((FINE, CONFLICT, REFUSED), Refused(is_entry_refused=True)),
        (({}, REFUSED, {}), Refused(is_account_refused=True)),
    ],
)
def test_reasons_are_read_in_their_order(reasons: Reasons, meaning: Refused) -> None:
    """The row's, the account's, the entry's; a verdict on the row makes another part's conflict irrelevant."""
    assert read_reasons(OPS, reasons) == meaning


@pytest.mark.failure_mode("F11")
@pytest.mark.parametrize(
    "reasons", [(CONFLICT, FINE, FINE), (FINE, CONFLICT, FINE), (CONFLICT, REFUSED, FINE), (CONFLICT, FINE, REFUSED)]
)
def test_conflict_without_a_verdict_on_the_row_is_busy(reasons: Reasons) -> None:
    """While the row is in other hands it may be about to say "that was me": no budget answers before it."""
    with pytest.raises(StoreBusy):
        read_reasons(OPS, reasons)


@pytest.mark.parametrize("reasons", [(THROTTLED, FINE, FINE), (FINE, CONFLICT, THROTTLED)])
def test_throttled_part_is_an_outage(reasons: Reasons) -> None:
    """Repeating at once would only add to the load."""
    with pytest.raises(StoreUnavailable, match="ThrottlingError"):
        read_reasons(OPS, reasons)


class QuickClock:
    """Notes how long it was asked to wait, and does not."""

    def __init__(self) -> None:
        """Nothing waited yet."""
        self.waited: list[timedelta] = []

    def now(self) -> Any:
        """Always the same instant."""
        return NOW

    def monotonic(self) -> float:
        """No time passes."""
        return 0.0

    async def sleep(self, duration: timedelta) -> None:
        """Note it."""
        self.waited.append(duration)


class HalfJitter:
    """Draws a half, always."""

    def token(self) -> str:
        """No token is asked for here."""
        return "A" * 26

    def jitter(self) -> float:
        """The middle."""
        return 0.5


class OneThread:
    """Calls where it is called."""

    async def call[Result](self, blocking: Callable[..., Result], /, **arguments: object) -> Result:
        """Block; a fake answers at once."""
        return blocking(**arguments)


class ScriptedClient:
    """Answers each request with what is next: an error's code with its extras, or success."""

    def __init__(self, *script: tuple[str, dict[str, Any]] | None) -> None:
        """``None`` is success."""
        self.script = list(script)
        self.requests: list[dict[str, Any]] = []

    def transact_write_items(self, **request: Any) -> dict[str, Any]:
        """One transaction."""
        return self._answer("TransactWriteItems", request)

    def update_item(self, **request: Any) -> dict[str, Any]:
        """One update of the job."""
        return self._answer("UpdateItem", request)

    def _answer(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        self.requests.append(request)
        step = self.script.pop(0)
        if step is not None:
            code, extras = step
            answer: Any = {"Error": {"Code": code, "Message": "quotes content"}, **extras}
            raise ClientError(answer, operation)
        return {"Attributes": to_row(JOB)}


def a_store(client: ScriptedClient, clock: QuickClock) -> DynamoStore:
    """The real store over a scripted client."""
    scripted: Any = client
    return DynamoStore(scripted, Tables("jobs", "accounts"), OneThread(), clock, HalfJitter())


def settle(client: ScriptedClient, clock: QuickClock) -> WriteReply:
    """Settle the job in a transaction named ``t``."""
    return asyncio.run(a_store(client, clock).transact(OPS, "t"))


CANCELED = ("TransactionCanceledException", {"CancellationReasons": [CONFLICT, FINE, FINE]})
IN_PROGRESS: tuple[str, dict[str, Any]] = ("TransactionInProgressException", {})


@pytest.mark.failure_mode("F9", "F10")
def test_conflicting_transaction_is_repeated_under_its_token_with_growing_pauses() -> None:
    """Whichever of the repeats is applied, it is one transaction."""
    client, clock = ScriptedClient(CANCELED, IN_PROGRESS, None), QuickClock()

    assert settle(client, clock) == Applied()
    assert [request["ClientRequestToken"] for request in client.requests] == ["t", "t", "t"]
    assert client.requests[0] == client.requests[2]
    assert clock.waited == [PAUSES[0] / 2, PAUSES[1] / 2]


@pytest.mark.failure_mode("F9")
def test_transaction_that_keeps_conflicting_is_given_up_as_busy() -> None:
    """Patience ends; the caller puts the job back, or answers 503."""
    client, clock = ScriptedClient(*[CANCELED] * (len(PAUSES) + 1)), QuickClock()

    with pytest.raises(StoreBusy):
        settle(client, clock)
    assert client.script == []
    assert len(clock.waited) == len(PAUSES)


def test_update_waits_while_a_transaction_holds_the_row() -> None:
    """A heartbeat must not be lost to a settle of somebody else's account."""
    client, clock = ScriptedClient(("TransactionConflictException", {}), None), QuickClock()
    change = RowChange(when=(), set=Fields(lost=0))

    assert asyncio.run(a_store(client, clock).update_job(JOB.tenant_id, JOB.job_id, change)) == Applied(before=JOB)


def test_refusal_is_told_by_its_code() -> None:
    """Not by botocore's class for it, of which two threads may make two."""
    client, clock = ScriptedClient(("ConditionalCheckFailedException", {"Item": to_row(JOB)})), QuickClock()
    change = RowChange(when=(), set=Fields(lost=0))
    reply = asyncio.run(a_store(client, clock).update_job(JOB.tenant_id, JOB.job_id, change))

    assert reply == Refused(row=JOB, is_row_refused=True)


@pytest.mark.parametrize(
    "code", ["ThrottlingException", "AccessDeniedException", "IdempotentParameterMismatchException"]
)
def test_other_error_is_raised_once_as_ours_without_its_words(code: str) -> None:
    """No repeat of ours on top of the SDK's, and no message that may quote what is stored."""
    client, clock = ScriptedClient((code, {})), QuickClock()

    with pytest.raises(StoreUnavailable, match=code) as raised:
        settle(client, clock)
    assert "content" not in raised.value.detail
    assert raised.value.__suppress_context__


def test_grant_that_its_entry_refuses_is_done() -> None:
    """The account's own conflict does not matter then: the grant was applied before."""
    reasons: Reasons = (CONFLICT, REFUSED)
    client = ScriptedClient(("TransactionCanceledException", {"CancellationReasons": reasons}))
    transactions = a_store(client, QuickClock())._transactions
    entry = OPS[2]

    asyncio.run(transactions.grant(JOB.tenant_id, 5, entry.entry))  # type: ignore[union-attr]
    assert client.script == []


def test_patience_returns_at_once_what_is_not_busy() -> None:
    """The common case waits for nothing."""

    async def write() -> str:
        return "written"

    clock = QuickClock()

    assert asyncio.run(Patience(clock, HalfJitter()).through(write)) == "written"
    assert clock.waited == []


def test_create_over_a_row_of_newer_code_shows_it() -> None:
    """A refusal carries any row that can be read at all."""
    newer = {**to_row(a_job()), "schema_version": {"N": "2"}}
    meaning = read_reasons([CreateRow(a_job(), NOW)], [{**REFUSED, "Item": newer}])

    assert meaning.row is not None
    assert meaning.row.schema_version == 2
