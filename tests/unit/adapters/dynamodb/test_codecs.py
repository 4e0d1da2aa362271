"""What is stored reads as it was, stays small, and survives code that knows more or less."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given

from onceward.adapters.dynamodb.cold_codec import OWNER, SHAPES, from_cold, to_cold
from onceward.adapters.dynamodb.parts_codec import ATTEMPT, EARLIER_SEND, OPEN_CALL, RESULT_REF, USAGE
from onceward.adapters.dynamodb.row_codec import COLUMNS, ROW, from_row, to_row
from onceward.adapters.dynamodb.shapes import Shape
from onceward.adapters.dynamodb.values import Item
from onceward.domain.change import Counts, Fields
from onceward.domain.job import FLIGHT_SCHEMA, Job
from onceward.domain.names import DownstreamKey
from onceward.domain.records import Answer, ColdItem
from onceward.domain.states import CallState, JobState
from tests.contract.job_store.full import a_full_job
from tests.support.builders import a_job, an_answer, an_open_call
from tests.unit.adapters.dynamodb.sizes import size_of_item
from tests.unit.adapters.dynamodb.strategies import QUICK, an_expiry, cold_items, jobs

NEWER = {"N": str(FLIGHT_SCHEMA + 1)}
ONE_KB = 1024  # a write pays for each started one


@pytest.mark.failure_mode("F71")
@QUICK
@given(jobs)
def test_row_reads_as_it_was_written(job: Job) -> None:
    """Any job survives its stored form."""
    assert from_row(to_row(job)) == job


@QUICK
@given(cold_items)
def test_cold_item_reads_as_it_was_written(item: ColdItem) -> None:
    """Any cold item survives its stored form."""
    assert from_cold(to_cold(item, an_expiry())) == item


def test_full_row_is_below_one_kb() -> None:
    """Three open calls and five accepted steps, everything else set: still one write unit.

    A job in a flight has no calls of its own, and a flight has no reservation. Who repeats has not ended.
    """
    alone = a_full_job(tenant_id="tenant-of-some-length", flight=None)
    first = replace(alone, open=tuple(replace(call, repeats=None) for call in alone.open))
    going_on = replace(alone, result=None, cancelled_at=None, erased_at=None, finished_at=None, charge_micro_usd=None)
    participant = a_full_job(tenant_id="tenant-of-some-length", open=(), accepted={})
    flight = replace(first, participants=100, reserved_micro_usd=None, charge_micro_usd=None)

    assert max(size_of_item(to_row(job)) for job in (first, going_on, participant, flight)) < ONE_KB


def test_key_of_an_open_call_does_not_repeat_the_job_id() -> None:
    """A key that was made of the job's id is stored short, any other as it is; both read whole."""
    strange = an_open_call(key=DownstreamKey("made-by-someone-else"))
    job = a_job(open=(an_open_call(), strange))
    stored = [call["M"]["k"]["S"] for call in to_row(job)["o"]["L"]]

    assert stored == ["~-1-generate_1", "made-by-someone-else"]
    assert from_row(to_row(job)) == job


def test_fresh_row_is_small() -> None:
    """Nothing absent is stored."""
    row = to_row(a_job())

    assert set(row) == {
        "pk", "sk", "tenant_id", "created_key", "due_shard", "due", "expires_at", "schema_version",
        "j", "ct", "f", "k", "kv", "ca", "cb", "dl", "n", "s", "e", "a", "l",
    }  # fmt: skip
    assert size_of_item(row) < ONE_KB / 2


@pytest.mark.parametrize(
    "shape",
    [ROW, ATTEMPT, EARLIER_SEND, OPEN_CALL, RESULT_REF, USAGE, *SHAPES.values()],
    ids=lambda shape: shape.whole.__name__,
)
def test_shape_has_each_field_once_and_each_name_once(shape: Shape[Any]) -> None:
    """A field that is added to a dataclass is stored, or this fails."""
    in_key = OWNER if shape in SHAPES.values() else frozenset()
    names = [column.name for column in shape.columns.values()]

    assert set(shape.columns) == {field.name for field in fields(shape.whole)} - in_key
    assert len(set(names)) == len(names)
    assert not {"pk", "sk", "created_key", "due_shard", "item"} & set(names)


def test_whatever_a_write_may_set_or_count_is_a_column() -> None:
    """No change of a row can name what the codec does not know."""
    assert set(Fields.__annotations__) | set(Counts.__annotations__) <= set(COLUMNS)


def test_cold_item_enters_no_index_and_expires() -> None:
    """Both indexes are sparse: what lacks their keys is not in them."""
    item = to_cold(an_answer(), an_expiry())

    assert not {"due_shard", "due", "tenant_id", "created_key"} & set(item)
    assert "expires_at" in item


def a_newer_row(**attributes: Any) -> Item:
    """A row as code of the next version might write it."""
    return {**to_row(a_full_job()), "schema_version": NEWER, **attributes}


def test_row_of_newer_code_is_read_as_far_as_it_is_known() -> None:
    """A new attribute is left alone; everything else is there, and the version tells."""
    row = from_row(a_newer_row(zz={"B": b"new"}))

    assert row == replace(a_full_job(), schema_version=FLIGHT_SCHEMA + 1)


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("w", {"S": "weather"}),
        ("xp", {"S": "ignored"}),
        ("p", {"M": {"b": {"S": "yesterday"}}}),
        ("o", {"L": [{"M": {"s": {"S": "new"}}}]}),
        ("d", {"M": {"step/1": {"L": []}}}),
        ("m", {"N": "1.5"}),
        ("y", {"NULL": True}),
    ],
)
def test_what_newer_code_wrote_otherwise_reads_as_absent(attribute: str, value: dict[str, Any]) -> None:
    """Nothing of it crashes a reader."""
    row = from_row(a_newer_row(**{attribute: value}))
    [field] = [field for field, column in COLUMNS.items() if column.name == attribute]

    assert getattr(row, field) == getattr(a_job(), field)
    assert row.job_id == a_full_job().job_id


def test_state_of_newer_code_is_neither_terminal_nor_free() -> None:
    """An unknown state must not look like an end, nor like something to claim."""
    assert from_row(a_newer_row(s={"S": "paused"})).state is JobState.RUNNING


def test_broken_row_of_our_own_version_is_an_error() -> None:
    """Leniency is for what we cannot know, not for what we wrote."""
    with pytest.raises(ValueError, match="paused"):
        from_row({**to_row(a_job()), "s": {"S": "paused"}})


def test_row_without_a_required_attribute_is_an_error() -> None:
    """Nothing stands in for a fingerprint."""
    row = to_row(a_job())
    del row["f"]

    with pytest.raises(KeyError):
        from_row(row)


def test_item_of_a_class_of_newer_code_is_no_item_of_ours() -> None:
    """An old reader leaves it out of its lists."""
    assert from_cold({**to_cold(an_answer(), an_expiry()), "item": {"S": "rumour"}}) is None


def test_answer_state_of_newer_code_settles_nothing() -> None:
    """What cannot be understood is not taken for success or failure."""
    newer = {**to_cold(an_answer(), an_expiry()), "state": {"S": "half"}, "schema_version": NEWER}
    item = from_cold(newer)

    assert isinstance(item, Answer)
    assert item.state is CallState.UNKNOWN
