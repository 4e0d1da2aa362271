"""What an ended batch of OpenAI's says, and what nobody can read in it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from onceward.domain.recovery import PollReply
from onceward.errors import CallFailure
from onceward.providers.openai_batches_answer import end_without_line, files_of, line_of, read_line
from tests.unit.providers.scripted_server import completion, error

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def answered(status: object, body: object) -> dict[str, Any]:
    """A line whose request was answered."""
    return {"custom_id": "k", "response": {"status_code": status, "request_id": "req_1", "body": body}, "error": None}


def failed(code: object) -> dict[str, Any]:
    """A line whose request was never asked."""
    return {"custom_id": "k", "response": None, "error": {"code": code, "message": "Secret words."}}


def test_answer_is_read_as_one_at_once_would_be() -> None:
    """With its usage, and the request's id of its own line."""
    reply = read_line(answered(200, completion("Fine.")), "asked", NOW)

    assert (reply.text, reply.finish, reply.request_id) == ("Fine.", "stop", "req_1")
    assert reply.usage is not None
    assert (reply.usage.input, reply.usage.output) == (12, 5)


@pytest.mark.parametrize(
    ("line", "error_class", "code", "is_charged"),
    [
        (answered(400, error("context_length_exceeded")), "permanent", "document_too_long", False),
        (answered(429, error("insufficient_quota")), "quota_exhausted", "provider_quota_exhausted", False),
        (answered(500, error("server_error")), "transient", "provider_error", False),
        (answered(504, None), "transient", "provider_error", False),
        (answered(200, {"choices": []}), "invalid_output", "empty_answer", True),
        (answered(200, {"sense": "none"}), "invalid_output", "provider_answer_unknown", True),
        (answered(200, None), "invalid_output", "provider_answer_unknown", True),
        (answered(True, completion()), "permanent", "provider_refused_request", False),
        (failed("batch_expired"), "transient", "batch_expired", False),
        (failed("batch_cancelled"), "permanent", "provider_cancelled", False),
        (failed("server_error"), "transient", "provider_error", False),
        (failed("never_heard_of"), "permanent", "provider_refused_request", False),
        (failed({"a": 1}), "permanent", "provider_refused_request", False),
        ({}, "permanent", "provider_refused_request", False),
    ],
    ids=str,
)
def test_line_that_is_no_answer(line: dict[str, Any], error_class: str, code: str, is_charged: bool) -> None:
    """Work that has ended is no maybe; an answer that cannot be read may be charged, and is never free."""
    with pytest.raises(CallFailure) as failure:
        read_line(line, "asked", NOW)

    assert (failure.value.error_class, failure.value.code) == (error_class, code)
    assert (failure.value.model is not None, failure.value.was_sent) == (is_charged, True)
    assert "Secret" not in str(failure.value)


@pytest.mark.parametrize(
    ("batch", "files"),
    [
        ({"output_file_id": "o", "error_file_id": "e"}, ["o", "e"]),
        ({"output_file_id": None, "error_file_id": "e"}, ["e"]),
        ({"output_file_id": "o", "error_file_id": ""}, ["o"]),
        ({"output_file_id": 7}, []),
    ],
    ids=str,
)
def test_absent_files_are_not_asked_for(batch: dict[str, Any], files: list[str]) -> None:
    """Null and an empty text both say that there is none."""
    assert files_of(batch) == files


def test_only_the_own_line_is_read() -> None:
    """Whatever else is in the file, and whatever is no JSON."""
    lines = [b"{cut", json.dumps(failed("x") | {"custom_id": "other"}).encode(), json.dumps(failed("y")).encode()]

    assert line_of(b"\n".join(lines), "k") == failed("y")
    assert line_of(b"\n".join(lines[:2]), "k") is None


@pytest.mark.parametrize(
    ("batch", "code"),
    [
        ({"status": "expired"}, "batch_expired"),
        ({"status": "cancelled"}, "provider_cancelled"),
        ({"status": "failed", "errors": {"data": [{"code": "empty_file"}]}}, "provider_refused_request"),
        ({"status": "failed", "errors": {"data": [{"code": "token_limit_exceeded"}]}}, "rate_limited"),
        ({"status": "failed", "errors": {"data": "none"}}, "provider_refused_request"),
        ({"status": "failed"}, "provider_refused_request"),
    ],
    ids=str,
)
def test_end_without_files_says_why(batch: dict[str, Any], code: str) -> None:
    """Nothing of it is charged."""
    with pytest.raises(CallFailure) as failure:
        end_without_line(batch)

    assert (failure.value.code, failure.value.model) == (code, None)


@pytest.mark.parametrize(
    ("batch", "said"),
    [({"status": "completed"}, PollReply.GONE), ({"status": "new_word"}, PollReply.UNREACHABLE)],
    ids=str,
)
def test_end_that_tells_nothing_of_the_request_is_no_answer(batch: dict[str, Any], said: PollReply) -> None:
    """Completed without a line is a maybe; a word that nobody knows says nothing."""
    assert end_without_line(batch) is said
