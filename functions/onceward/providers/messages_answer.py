"""What a 200 of Anthropic's messages means: text, or a charged answer that is no result."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from onceward.domain.retry import ErrorClass
from onceward.errors import Usage
from onceward.providers.http import HttpReply
from onceward.providers.meaning import REFUSED_BY_MODEL, Charged
from onceward.providers.messages_errors import failure_of
from onceward.providers.reading import a_count, a_name, an_object, an_optional_count
from onceward.usecases.ports import ModelReply

_FINISHES = {"end_turn": "stop", "stop_sequence": "stop", "tool_use": "tools"}  # any word not named is "other"
_CUT = ("max_tokens", "model_context_window_exceeded")  # a tuple takes any JSON value for a question, a set does not


def read_answer(reply: HttpReply, asked_model: str, now: datetime) -> ModelReply:
    """The model's reply; raises ``CallFailure`` for an answer that is none."""
    body = reply.json_object()
    if body is None or body.get("type") != "message" or not isinstance(blocks := body.get("content"), list):
        raise failure_of(reply, now)
    request_id = a_name(reply.headers.get("request-id")) or a_name(body.get("id"))
    charged = Charged(read_usage(body), a_name(body.get("model")) or asked_model, request_id)
    stop = said if isinstance(said := body.get("stop_reason"), str) else None
    if stop == "refusal":
        raise charged.failure(REFUSED_BY_MODEL.error_class, REFUSED_BY_MODEL.code)
    if stop in _CUT:
        raise charged.failure(ErrorClass.INVALID_OUTPUT, "truncated_output")
    if stop == "pause_turn":  # the model waits to be called again; what it said so far is not its answer
        raise charged.failure(ErrorClass.INVALID_OUTPUT, "unfinished_turn")
    text = _text(blocks)
    if not text.strip() and stop != "tool_use":
        raise charged.failure(ErrorClass.INVALID_OUTPUT, "empty_answer")
    return ModelReply(
        text="" if stop == "tool_use" else text,  # what it says before it calls a tool is no answer
        finish="other" if stop is None else _FINISHES.get(stop, "other"),
        model=charged.model,
        usage=charged.usage,
        request_id=request_id,
    )


def read_usage(body: Mapping[str, object]) -> Usage | None:
    """The counts of an answer; ``None`` if they are missing, contradict each other or have no price in our table.

    ``input_tokens`` leaves out what was read from and written to the cache; ours holds all three. Writes that are kept
    for an hour cost another price than the table's: nobody asks for them here, and a gateway's are left unpriced.
    """
    usage = an_object(body.get("usage"))
    fresh, output = a_count(usage.get("input_tokens")), a_count(usage.get("output_tokens"))
    cached = an_optional_count(usage.get("cache_read_input_tokens"))
    written = an_optional_count(usage.get("cache_creation_input_tokens"))
    for_an_hour = an_optional_count(an_object(usage.get("cache_creation")).get("ephemeral_1h_input_tokens"))
    reasoning = an_optional_count(an_object(usage.get("output_tokens_details")).get("thinking_tokens"))
    if fresh is None or output is None or cached is None or written is None or reasoning is None:
        return None
    if for_an_hour != 0 or reasoning > output:
        return None
    return Usage(input=fresh + cached + written, cached=cached, cache_write=written, output=output, reasoning=reasoning)


def _text(blocks: list[object]) -> str:
    """The text blocks, joined; thinking and tools are no text."""
    texts = (block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text")
    return "".join(text for text in texts if isinstance(text, str))
