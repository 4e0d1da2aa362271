"""Answers of Anthropic and of Bedrock, as they were met in the wild."""

from __future__ import annotations

from onceward.domain.records import Usage
from tests.unit.providers.wire_bodies import (
    CHARGED,
    TOOL,
    Case,
    anthropic_error,
    aws_error,
    converse,
    message,
    said,
)

ANTHROPIC: tuple[Case, ...] = (
    Case(
        id="PR-23",
        dialect="anthropic",
        body=message(
            "ok", input_tokens=50, cache_creation_input_tokens=0, cache_read_input_tokens=100_000, output_tokens=20
        ),
        usage=Usage(input=100_050, cached=100_000, output=20),
    ),
    Case(
        id="PR-27",
        dialect="anthropic",
        status=529,
        headers={"x-should-retry": "true"},
        body=anthropic_error("overloaded_error"),
        error_class="transient",
        code="provider_overloaded",
    ),
    Case(
        id="PR-29",
        dialect="anthropic",
        status=400,
        body=anthropic_error("invalid_request_error", "Your credit balance is too low to access the API."),
        error_class="quota_exhausted",
        code="provider_quota_exhausted",
    ),
    Case(
        id="PR-30",
        dialect="anthropic",
        status=402,
        body=anthropic_error("billing_error"),
        error_class="quota_exhausted",
        code="provider_quota_exhausted",
    ),
    Case(
        id="PR-31",
        dialect="anthropic",
        status=429,
        headers={"retry-after": "12"},
        body=anthropic_error("rate_limit_error"),
        error_class="rate_limited",
        code="rate_limited",
    ),
    Case(
        id="PR-33",
        dialect="anthropic",
        status=413,
        body=anthropic_error("request_too_large"),
        error_class="permanent",
        code="request_too_large",
    ),
    Case(
        id="PR-34",
        dialect="anthropic",
        status=400,
        body=anthropic_error("invalid_request_error", "prompt is too long: 215432 tokens > 200000 maximum"),
        error_class="permanent",
        code="document_too_long",
    ),
    Case(
        id="PR-35",
        dialect="anthropic",
        body=message("Okay, I just", "max_tokens"),
        error_class="invalid_output",
        code="truncated_output",
        usage=CHARGED,
    ),
    Case(
        id="PR-38",
        dialect="anthropic",
        body=message("Let me search", "pause_turn"),
        error_class="invalid_output",
        code="unfinished_turn",
        usage=CHARGED,
    ),
    Case(id="PR-39", dialect="anthropic", body=message('{"a":1}', "some_future_reason"), code="other", usage=CHARGED),
)

BEDROCK: tuple[Case, ...] = (
    Case(
        id="PR-40",
        dialect="bedrock",
        body=converse("Hi, how can", "max_tokens"),
        error_class="invalid_output",
        code="truncated_output",
        usage=Usage(input=8, output=10),
    ),
    Case(
        id="PR-41",
        dialect="bedrock",
        body=converse("<thinking> I will call the tool.</thinking>\n", "tool_use", TOOL, tokens=(415, 190)),
        code="tools",
        usage=Usage(input=415, output=190),
    ),
    Case(
        id="PR-45",
        dialect="bedrock",
        status=400,
        headers=aws_error("ValidationException"),
        body=said("The provided model identifier is invalid."),
        error_class="permanent",
        code="provider_refused_request",
    ),
    Case(
        id="PR-46",
        dialect="bedrock",
        status=400,
        headers=aws_error("ValidationException"),
        body=said("Input is too long for requested model."),
        error_class="permanent",
        code="document_too_long",
    ),
    Case(
        id="PR-48",
        dialect="bedrock",
        status=503,
        headers=aws_error("ServiceUnavailableException"),
        body=said("Unable."),
        error_class="transient",
        code="provider_overloaded",
    ),
    Case(
        id="PR-50",
        dialect="bedrock",
        status=403,
        headers=aws_error("AccessDeniedException"),
        body=said("No access."),
        error_class="permanent",
        code="provider_forbidden",
    ),
    Case(
        id="PR-51",
        dialect="bedrock",
        body=converse("Sorry, blocked.", "guardrail_intervened", tokens=(120, 6)),
        error_class="policy_rejected",
        code="content_filtered",
        usage=Usage(input=120, output=6),
    ),
)
