"""What a Converse answer means: text, or a charged answer that is no result."""

from __future__ import annotations

from collections.abc import Mapping

from onceward.domain.retry import ErrorClass
from onceward.errors import CallFailure, Usage
from onceward.providers.meaning import FILTERED, UNMAPPED, Charged
from onceward.providers.reading import a_count, a_name, an_object, an_optional_count
from onceward.usecases.ports import ModelReply

_FINISHES = {"end_turn": "stop", "stop_sequence": "stop", "tool_use": "tools"}  # any word not named is "other"
_CUT = frozenset({"max_tokens", "model_context_window_exceeded"})
_FILTERS = frozenset({"guardrail_intervened", "content_filtered"})
_MALFORMED = frozenset({"malformed_model_output", "malformed_tool_use"})


def read_answer(answer: Mapping[str, object], model: str) -> ModelReply:
    """The model's reply; raises ``CallFailure`` for an answer that is none. Converse does not say which model ran."""
    request_id = a_name(an_object(answer.get("ResponseMetadata")).get("RequestId"))
    message = an_object(an_object(answer.get("output")).get("message"))
    blocks, stop = message.get("content"), answer.get("stopReason")
    if not isinstance(blocks, list) or not isinstance(stop, str):
        raise CallFailure(
            "an answer of no known shape",
            code=UNMAPPED.code,
            error_class=UNMAPPED.error_class,
            was_sent=True,
            request_id=request_id,
        )
    charged = Charged(read_usage(answer), model, request_id)
    if stop in _FILTERS:  # what stands there then is the guardrail's sentence, not the model's
        raise charged.failure(FILTERED.error_class, FILTERED.code)
    if stop in _CUT:
        raise charged.failure(ErrorClass.INVALID_OUTPUT, "truncated_output")
    if stop in _MALFORMED:
        raise charged.failure(ErrorClass.INVALID_OUTPUT, "malformed_output")
    text = "".join(part for block in blocks if isinstance(part := an_object(block).get("text"), str))
    if not text.strip() and stop != "tool_use":
        raise charged.failure(ErrorClass.INVALID_OUTPUT, "empty_answer")
    return ModelReply(
        text="" if stop == "tool_use" else text,  # what it says before it calls a tool is no answer
        finish=_FINISHES.get(stop, "other"),
        model=model,
        usage=charged.usage,
        request_id=request_id,
    )


def read_usage(answer: Mapping[str, object]) -> Usage | None:
    """The counts of an answer; ``inputTokens`` leaves out what the cache read and wrote, ours holds all three."""
    usage = an_object(answer.get("usage"))
    fresh, output = a_count(usage.get("inputTokens")), a_count(usage.get("outputTokens"))
    cached = an_optional_count(usage.get("cacheReadInputTokens"))
    written = an_optional_count(usage.get("cacheWriteInputTokens"))
    if fresh is None or output is None or cached is None or written is None:
        return None
    return Usage(input=fresh + cached + written, cached=cached, cache_write=written, output=output)
