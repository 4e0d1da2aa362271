"""The table of failures: which answers are final, which may be tried again, which leave a maybe."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from onceward.domain.retry import ErrorClass
from onceward.errors import CallFailure
from onceward.providers.chat_errors import failure_of
from onceward.providers.http import HttpReply
from tests.unit.providers.scripted_server import error

NOW = datetime(2026, 11, 30, tzinfo=UTC)
AZURE_FILTER = {
    "error": {
        "message": "Secret words.",
        "type": None,
        "param": "prompt",
        "code": "content_filter",
        "innererror": {"code": "ResponsibleAIPolicyViolation"},
    }
}
VLLM = {"object": "error", "message": "Secret words.", "type": "BadRequestError", "param": None, "code": 400}
CDN = "<!DOCTYPE html><html><head><title>Secret words</title></head></html>"


def failing(status: int, body: object = "", headers: dict[str, str] | None = None) -> CallFailure:
    """What an answer is taken for."""
    raw = body if isinstance(body, str) else json.dumps(body)
    return failure_of(HttpReply(status=status, headers=headers or {}, body=raw.encode()), NOW)


@pytest.mark.parametrize(
    ("status", "body", "error_class", "code"),
    [
        pytest.param(404, error("model_not_found"), "permanent", "model_not_found", id="PR-04"),
        pytest.param(
            429,
            error("insufficient_quota", "insufficient_quota"),
            "quota_exhausted",
            "provider_quota_exhausted",
            id="PR-05",
        ),
        pytest.param(
            429, error("new_word", "insufficient_quota"), "quota_exhausted", "provider_quota_exhausted", id="by type"
        ),
        pytest.param(429, error("rate_limit_exceeded", "tokens"), "rate_limited", "rate_limited", id="PR-06"),
        pytest.param(400, error("context_length_exceeded"), "permanent", "document_too_long", id="PR-08"),
        pytest.param(401, error("invalid_api_key"), "permanent", "provider_auth", id="PR-09"),
        pytest.param(400, AZURE_FILTER, "policy_rejected", "content_filtered", id="PR-10"),
        pytest.param(529, error(None, "overloaded_error"), "transient", "provider_overloaded", id="PR-27"),
        pytest.param(402, error(None, "billing_error"), "quota_exhausted", "provider_quota_exhausted", id="PR-30"),
        pytest.param(413, "", "permanent", "request_too_large", id="PR-33"),
        pytest.param(400, VLLM, "permanent", "provider_refused_request", id="PR-53"),
        pytest.param(404, {"error": "model not found"}, "permanent", "provider_not_found", id="PR-54"),
        pytest.param(503, {"error": "Server overloaded"}, "transient", "provider_overloaded", id="PR-55"),
        pytest.param(520, CDN, "outcome_unknown", "provider_answer_unknown", id="PR-56"),
        pytest.param(500, error(None, "server_error"), "outcome_unknown", "provider_error", id="PR-61"),
        pytest.param(403, "", "permanent", "provider_forbidden", id="403"),
        pytest.param(405, "", "permanent", "provider_not_found", id="405"),
        pytest.param(422, "", "permanent", "provider_refused_request", id="422"),
        pytest.param(408, "", "outcome_unknown", "provider_timed_out", id="408"),
        pytest.param(502, CDN, "outcome_unknown", "provider_gateway", id="502"),
        pytest.param(504, "", "outcome_unknown", "provider_timed_out", id="504"),
        pytest.param(308, "", "permanent", "provider_redirects", id="a redirect"),
        pytest.param(409, "", "outcome_unknown", "provider_answer_unknown", id="409 is not in the table"),
        pytest.param(418, "", "outcome_unknown", "provider_answer_unknown", id="418 is not in the table"),
        pytest.param(201, "{}", "outcome_unknown", "provider_answer_unknown", id="another success"),
        pytest.param(200, {"error": {"code": 502}}, "outcome_unknown", "provider_answer_unknown", id="an error in 200"),
        pytest.param(200, error("rate_limit_exceeded"), "rate_limited", "rate_limited", id="a known error in a 200"),
        pytest.param(429, "[" * 100_000, "rate_limited", "rate_limited", id="a body that is too deep"),
        pytest.param(429, '{"error": []}', "rate_limited", "rate_limited", id="an error of no known shape"),
    ],
)
def test_each_answer_has_its_class_and_code(status: int, body: object, error_class: str, code: str) -> None:
    """Decided by status and structured code; anything else is a maybe."""
    failure = failing(status, body)

    assert (error_class, code, True) == (failure.error_class, failure.code, failure.was_sent)


@pytest.mark.parametrize("code", ["insufficient_quota", "rate_limit_exceeded", "context_length_exceeded"])
@pytest.mark.parametrize("status", [408, 500, 502, 504, 520])
def test_a_familiar_code_does_not_make_a_maybe_certain(status: int, code: str) -> None:
    """Behind these statuses the model may have run, whatever the body says."""
    assert failing(status, error(code)).error_class == ErrorClass.OUTCOME_UNKNOWN


@pytest.mark.parametrize("status", [429, 503, 529])
def test_a_refusal_at_the_door_brings_the_wish_when_to_come_back(status: int) -> None:
    """RA-28: every status that is retried honours the header."""
    assert timedelta(seconds=7) == failing(status, headers={"retry-after": "7"}).retry_after


def test_a_final_failure_and_a_maybe_ask_for_no_wait() -> None:
    """A floor for a retry that never comes would be noise in the books."""
    assert failing(400, headers={"retry-after": "7"}).retry_after is None
    assert failing(502, headers={"retry-after": "7"}).retry_after is None


def test_an_explicit_refusal_ends_retries_and_leaves_maybes_alone() -> None:
    """RA-27: ``x-should-retry: false`` makes a retryable answer final; it cannot say that nothing ran."""
    refusal = {"x-should-retry": "false", "retry-after": "5"}

    assert (failing(429, headers=refusal).error_class, failing(429).retry_after) == (ErrorClass.PERMANENT, None)
    assert failing(500, headers=refusal).error_class == ErrorClass.OUTCOME_UNKNOWN


@pytest.mark.parametrize(
    "body", [error("context_length_exceeded"), AZURE_FILTER, CDN, {"error": "Secret words."}, error("Secret words.")]
)
def test_no_word_of_the_provider_gets_into_an_error(body: object) -> None:
    """PR-09, PR-56: messages can hold keys, prompts and whole pages; a code is repeated only if it looks like one."""
    failure = failing(400, body)

    assert "Secret" not in f"{failure} {failure.detail} {failure.code}"
    assert len(failure.detail) < 64
