"""Bodies of messages: what is read, what is left to newer code, what nobody can read."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceward.domain.names import JobId, TenantId
from onceward.wire.messages import (
    LONGEST_BODY,
    LONGEST_KEPT,
    LONGEST_REASON,
    DeadLetterBody,
    Newer,
    Unreadable,
    UnreadableBody,
    WakeupBody,
    dead_letter_body,
    parse_message,
    unreadable_body,
    wakeup_body,
)

EVENTS = Path(__file__).parents[3] / "events"
TENANT = TenantId("acme")
JOB = JobId("QHW5N2C7T4VXK3LBMFZ6ARDJEY-4SGPI2UO")
LARGEST_MESSAGE = 256 * 1024  # bytes: SQS took no more for most of its life


def bodies(event: str) -> list[str]:
    """The bodies of a sample event's records."""
    records = json.loads((EVENTS / f"{event}.json").read_text(encoding="utf-8"))["Records"]
    return [record["body"] for record in records]


def test_sample_wakeup_is_what_we_send() -> None:
    """The sample payload and our own writing are one and the same."""
    assert bodies("worker_wakeup") == [wakeup_body(TENANT, JOB)]
    assert parse_message(wakeup_body(TENANT, JOB)) == WakeupBody(tenant_id=TENANT, job_id=JOB)


def test_sample_letter_is_what_we_send() -> None:
    """A redriven dead letter keeps its epoch, by which the worker judges whether it still holds."""
    letter = DeadLetterBody(tenant_id=TENANT, job_id=JOB, epoch=1, reason="attempts_exhausted")

    assert bodies("worker_redriven_letter") == [dead_letter_body(TENANT, JOB, 1, "attempts_exhausted")]
    assert parse_message(bodies("worker_redriven_letter")[0]) == letter


def test_newer_message_is_told_apart() -> None:
    """A neighbour of a later version can read it, whatever its fields are."""
    assert parse_message(bodies("worker_newer_message")[0]) == Newer(2)
    assert parse_message('{"schema_version":3,"epoch":"2026","job":[]}') == Newer(3)


def test_sample_unreadable_bodies_are_unreadable() -> None:
    """Neither names a job that could be asked; the reason says which rule was broken and nothing of the body."""
    reasons = [Unreadable("not I-JSON"), Unreadable("value_error at job_id")]

    assert [parse_message(body) for body in bodies("worker_unreadable")] == reasons


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("", "not I-JSON"),
        ("[]", "model_type at the top"),
        ("null", "model_type at the top"),
        ("{}", "missing at schema_version"),
        ('{"schema_version":"1"}', "int_type at schema_version"),
        ('{"schema_version":true}', "int_type at schema_version"),
        ('{"schema_version":0}', "greater_than_equal at schema_version"),
        ('{"schema_version":1}', "missing at tenant_id"),
        (f'{{"schema_version":1,"tenant_id":"a b","job_id":"{JOB}"}}', "value_error at tenant_id"),
        (f'{{"schema_version":1,"tenant_id":"acme","job_id":"{JOB}","secret":1}}', "extra_forbidden at ?"),
        (
            f'{{"schema_version":1,"tenant_id":"acme","job_id":"{JOB}","epoch":0,"reason":"x"}}',
            "greater_than_equal at epoch",
        ),
        (f'{{"schema_version":1,"tenant_id":"acme","job_id":"{JOB}","epoch":1}}', "missing at reason"),
        ("[" * 5000, "not I-JSON"),
        (f'{{"schema_version":1,"tenant_id":"acme","tenant_id":"globex","job_id":"{JOB}"}}', "not I-JSON"),
        ('{"schema_version":1,"schema_\\u0076ersion":2}', "not I-JSON"),
        ('{"schema_version":' + "9" * 4000 + "}", "not I-JSON"),
        ('{"schema_version":1000001}', "less_than_equal at schema_version"),
        (f'{{"schema_version":1,"tenant_id":"..","job_id":"{JOB}"}}', "value_error at tenant_id"),
        (
            f'{{"schema_version":1,"tenant_id":"acme","job_id":"{JOB}","epoch":1000001,"reason":"x"}}',
            "less_than_equal at epoch",
        ),
        (" " * LONGEST_BODY + "{}", "longer than any message of ours"),
    ],
)
def test_unreadable_body_has_a_reason_without_content(body: str, reason: str) -> None:
    """The reason may be logged; the body may be anything, so nothing of it is in the reason."""
    assert parse_message(body) == Unreadable(reason)


@pytest.mark.failure_mode("F51")
@given(st.text())
def test_any_text_is_answered(body: str) -> None:
    """No body raises: one poisoned message must not take its batch down."""
    assert isinstance(parse_message(body), Newer | Unreadable)


def test_too_long_a_reason_is_cut() -> None:
    """A letter is sent in any case."""
    assert json.loads(dead_letter_body(TENANT, JOB, 1, "x" * 1000))["reason"] == "x" * LONGEST_REASON


@given(st.text(), st.text())
def test_unreadable_body_is_kept_as_it_was(body: str, reason: str) -> None:
    """A person sees what was received, and why it was put away; SQS takes it, since it is ASCII without controls."""
    kept = unreadable_body(body, reason)

    letter = UnreadableBody.model_validate_json(kept)
    assert letter.unreadable == body.encode("utf-8", "replace").decode()
    assert not letter.is_cut
    assert kept.isascii()
    assert kept.isprintable()


@pytest.mark.parametrize("character", ["a", "é", "\x00", "\U0001f600", "\ud800"])
def test_long_unreadable_body_is_cut_to_what_sqs_takes(character: str) -> None:
    """The longest body in the costliest spelling still fits one message, and says that it was cut."""
    kept = unreadable_body(character * 1_000_000, "longer than any message of ours")

    assert len(kept.encode()) < LARGEST_MESSAGE
    assert json.loads(kept)["is_cut"]
    assert len(json.loads(kept)["unreadable"]) == LONGEST_KEPT


def test_redriven_unreadable_body_is_not_wrapped_again() -> None:
    """Redriven by mistake it goes back as it was: it neither grows nor loses its first reason."""
    kept = unreadable_body("not a message of ours", "not JSON")

    assert parse_message(kept) == Unreadable("missing at tenant_id")
    assert unreadable_body(kept, "missing at tenant_id") == kept
