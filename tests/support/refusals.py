"""A write, the row it was made for, and what is otherwise when it comes: how one sentence of its condition is tried."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from onceward.domain.change import RowChange
from onceward.domain.job import Job
from onceward.domain.names import JobId
from onceward.domain.transaction import Op, UpdateRow
from tests.support.builders import JOB_ID, NOW, OTHER_TOKEN

OTHER_LIFE: dict[str, Any] = {"job_id": JobId(JOB_ID[:-1] + "Z")}
EXPIRED: dict[str, Any] = {"expires_at": NOW}
FOREIGN: dict[str, Any] = {"run_token": OTHER_TOKEN}
CANCELLED: dict[str, Any] = {"cancel_requested_at": NOW}
FLIGHT = JobId(JOB_ID[:-1] + "F")


@dataclass(frozen=True, slots=True)
class Refusal:
    """``otherwise`` breaks one sentence of the write's condition and no other."""

    name: str
    change: Callable[[], RowChange]
    row: Job
    otherwise: dict[str, Any]


def part_of(ops: Iterable[Op], job_id: JobId) -> RowChange:
    """The part of a transaction that changes this row."""
    (found,) = (op.change for op in ops if isinstance(op, UpdateRow) and op.job_id == job_id)
    return found


def assert_refused(refusal: Refusal) -> None:
    """The write may be applied to the row it was made for, and not to one that differs in this alone."""
    assert refusal.change().holds(refusal.row)
    assert not refusal.change().holds(replace(refusal.row, **refusal.otherwise))
