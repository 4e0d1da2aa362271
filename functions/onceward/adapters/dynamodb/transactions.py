"""One atomic write over several items, and what its refusal means.

DynamoDB answers a refused transaction with one reason per part, in the order of the parts. They are read in ours: the
row's first (it may say "that was me"), then the account's, then the entry's. A part that met another transaction has
no verdict: until the row has one, nothing else counts, and the whole is repeated under its token, which makes two
applications one for ten minutes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, assert_never

from botocore.exceptions import ClientError

from onceward.adapters.dynamodb.account_codec import from_account, grant_arguments, move_arguments, to_entry
from onceward.adapters.dynamodb.changes import update_arguments
from onceward.adapters.dynamodb.cold_codec import to_cold
from onceward.adapters.dynamodb.flights import count_arguments, point_arguments
from onceward.adapters.dynamodb.job_rows import from_refused
from onceward.adapters.dynamodb.patience import Patience
from onceward.adapters.dynamodb.row_codec import to_row
from onceward.adapters.dynamodb.table import Access, Tables
from onceward.adapters.dynamodb.values import to_item
from onceward.adapters.instants import seconds_passed
from onceward.domain.ledger import Account, Entry
from onceward.domain.names import TenantId
from onceward.domain.transaction import (
    AddEntry,
    Applied,
    ChangeAccount,
    CountFlight,
    CreateRow,
    Op,
    PointFlight,
    PutCold,
    Refused,
    UpdateRow,
    WriteReply,
)
from onceward.errors import StoreBusy, StoreUnavailable

type Reason = Mapping[str, Any]

CONDITION: Final = "ConditionalCheckFailed"
CONFLICT: Final = "TransactionConflict"
PUT_ONCE: Final = "attribute_not_exists(pk)"


@dataclass(frozen=True, slots=True)
class Transactions:
    """Writes over rows, cold items, accounts and entries."""

    access: Access
    patience: Patience

    async def apply(self, ops: Sequence[Op], token: str) -> WriteReply:
        """All of it or nothing; raises ``StoreBusy`` when it kept meeting other transactions."""
        return await self.patience.through(partial(self._once, ops, token))

    async def grant(self, tenant_id: TenantId, micro_usd: int, entry: Entry) -> None:
        """Add to an account, unless this entry says that it has been done."""
        update = {"Update": {"TableName": self.access.tables.accounts, **grant_arguments(tenant_id, micro_usd)}}
        await self.patience.through(partial(self._grant_once, [update, _entry_put(entry, self.access.tables)]))

    async def _grant_once(self, parts: Sequence[Mapping[str, Any]]) -> None:
        """The entry refuses a second grant; that is as good as done."""
        reasons = await self._send(parts)
        if reasons is not None and not _is(reasons[1], CONDITION):
            raise _failure(reasons)

    async def _once(self, ops: Sequence[Op], token: str) -> WriteReply:
        """One request and its meaning."""
        parts = [to_part(op, self.access.tables) for op in ops]
        reasons = await self._send(parts, ClientRequestToken=token)
        return Applied() if reasons is None else read_reasons(ops, reasons)

    async def _send(self, parts: Sequence[Mapping[str, Any]], **token: str) -> Sequence[Reason] | None:
        """Why it was refused, part by part; ``None``: it was applied."""
        try:
            await self.access.call(self.access.client.transact_write_items, TransactItems=parts, **token)
        except ClientError as canceled:
            reasons: Sequence[Reason] = canceled.response["CancellationReasons"]
            return reasons
        return None


def to_part(op: Op, tables: Tables) -> Mapping[str, Any]:
    """One part of a transaction, the way the service wants it."""
    match op:
        case CreateRow(job, now):
            absent = f"{PUT_ONCE} OR expires_at <= :now"
            given = to_item({":now": seconds_passed(now)})
            put = {"Item": to_row(job), "ConditionExpression": absent, "ExpressionAttributeValues": given}
            return {"Put": {"TableName": tables.jobs, **put, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}}
        case UpdateRow(tenant_id, job_id, change):
            return {"Update": {"TableName": tables.jobs, **update_arguments(tenant_id, job_id, change)}}
        case PutCold(item, expires_at):
            return {"Put": {"TableName": tables.jobs, "Item": to_cold(item, expires_at)}}
        case ChangeAccount(change):
            told = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
            return {"Update": {"TableName": tables.accounts, **move_arguments(change), **told}}
        case AddEntry(entry):
            return _entry_put(entry, tables)
        case PointFlight():
            return {"Put": {"TableName": tables.flights, **point_arguments(op)}}
        case CountFlight():
            return {"Update": {"TableName": tables.flights, **count_arguments(op)}}
        case _:
            assert_never(op)


def read_reasons(ops: Sequence[Op], reasons: Sequence[Reason]) -> Refused:
    """The refusal, or an exception if there was no verdict: ``StoreBusy`` for a conflict, else the store is down."""
    judged = tuple(zip(ops, reasons, strict=True))
    rows = [reason for op, reason in judged if isinstance(op, CreateRow | UpdateRow)]
    refused = [op for op, reason in judged if _is(reason, CONDITION)]
    row = next((reason for reason in rows if _is(reason, CONDITION)), None)
    has_verdict = row is not None or all(_is(reason, "None") for reason in rows)
    if not refused or not has_verdict:
        raise _failure(reasons)
    return Refused(
        row=None if row is None else from_refused(row),
        account=_refused_account(judged),
        is_row_refused=row is not None,
        is_account_refused=any(isinstance(op, ChangeAccount) for op in refused),
        is_entry_refused=any(isinstance(op, AddEntry) for op in refused),
        is_pointer_refused=any(isinstance(op, PointFlight) for op in refused),
        is_count_refused=any(isinstance(op, CountFlight) for op in refused),
    )


def _refused_account(judged: Iterable[tuple[Op, Reason]]) -> Account | None:
    """The account that refused, as it is; ``None``: none did, or there is none."""
    for op, reason in judged:
        if isinstance(op, ChangeAccount) and _is(reason, CONDITION) and reason.get("Item"):
            return from_account(op.change.tenant_id, reason["Item"])
    return None


def _entry_put(entry: Entry, tables: Tables) -> Mapping[str, Any]:
    """Write a line of the book that is not there yet."""
    return {"Put": {"TableName": tables.accounts, "Item": to_entry(entry), "ConditionExpression": PUT_ONCE}}


def _is(reason: Reason, code: str) -> bool:
    """Whether a part was refused for this; ``None`` is the service's word for a part that was not."""
    return (reason.get("Code") or "None") == code


def _failure(reasons: Sequence[Reason]) -> StoreBusy | StoreUnavailable:
    """Why no verdict could be had, in codes alone."""
    codes = sorted({str(reason.get("Code")) for reason in reasons} - {"None", CONDITION})
    detail = f"dynamodb TransactWriteItems: {', '.join(codes)}"
    return StoreBusy(detail) if codes == [CONFLICT] else StoreUnavailable(detail)
