"""Bodies and headers as providers send them, with the faults that were met in the wild; the texts are made up."""

from __future__ import annotations

from dataclasses import dataclass, field

from onceward.domain.records import Usage
from tests.unit.providers.asking import Dialect
from tests.unit.providers.scripted_server import completion

JSON = {"content-type": "application/json"}
RETRY_MARKERS = ("x-stainless-retry-count", "x-stainless-lang", "amz-sdk-retry")
CDN_PAGE = "<!DOCTYPE html><html><head><title>api | 520: Secret words</title></head><body>...</body></html>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One answer of one provider, and what it has to be taken for.

    ``error_class`` empty: a reply whose finish is ``code``. ``usage`` is what was counted, also for a failure.
    """

    id: str
    dialect: Dialect
    body: object
    error_class: str = ""
    code: str = "stop"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    usage: Usage | None = None


def message(text: str, stop_reason: object = "end_turn", **usage: object) -> dict[str, object]:
    """A success as Anthropic sends it."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": [{"type": "text", "text": text}],
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5, **usage},
    }


def anthropic_error(type_: str, text: str = "Secret words.", **details: str) -> dict[str, object]:
    """An error as Anthropic sends it."""
    made: dict[str, object] = {"type": type_, "message": text}
    return {"type": "error", "error": made | ({"details": details} if details else {}), "request_id": "req_1"}


def converse(text: str, stop_reason: str, *more: object, tokens: tuple[int, int] = (8, 10)) -> dict[str, object]:
    """A success as Converse sends it."""
    count, made = tokens
    return {
        "metrics": {"latencyMs": 608},
        "output": {"message": {"role": "assistant", "content": [{"text": text}, *more]}},
        "stopReason": stop_reason,
        "usage": {"inputTokens": count, "outputTokens": made, "totalTokens": count + made},
    }


def aws_error(code: str) -> dict[str, str]:
    """The headers of an AWS error; its body holds a message only."""
    return {**JSON, "x-amzn-errortype": f"{code}:http://internal.amazon.com/coral/com.amazon.bedrock/"}


def chat(usage: dict[str, object], content: str | None = "ok", **message_fields: object) -> dict[str, object]:
    """A success as OpenAI sends it, with such a usage."""
    return completion(content, usage=usage, **message_fields)


def responses(code: str) -> dict[str, object]:
    """A failed response of OpenAI's other API, as a gateway may hand it on with status 200."""
    failed = {"code": code, "message": "Secret words."}
    return {"id": "resp_1", "object": "response", "status": "failed", "error": failed, "output": [], "usage": None}


def counted(prompt: int, made: int, *, cached: int = 0, reasoning: int = 0) -> dict[str, object]:
    """OpenAI's usage."""
    return {
        "prompt_tokens": prompt,
        "completion_tokens": made,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }


def said(text: str) -> dict[str, str]:
    """The body of an AWS error."""
    return {"message": text}


TOOL = {"toolUse": {"input": {"location": "City A"}, "name": "get_weather", "toolUseId": "t1"}}
AZURE_FILTER = {"error": {"message": "Secret words.", "type": None, "param": "prompt", "code": "content_filter"}}
VLLM = {"object": "error", "message": "max_tokens must be at least 1.", "type": "BadRequestError", "code": 400}
CHARGED = Usage(input=10, output=5)
