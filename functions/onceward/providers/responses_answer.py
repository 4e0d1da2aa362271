"""What a response object means: work under way, text, or a charged end that is no result.

The HTTP status says only that there is such an object; its own ``status`` says what became of it.
"""

from __future__ import annotations

from collections.abc import Mapping

from onceward.domain.records import Usage
from onceward.domain.recovery import PollReply
from onceward.domain.retry import ErrorClass
from onceward.providers.chat_errors import BY_CODE
from onceward.providers.http import HttpReply
from onceward.providers.meaning import CANCELLED_THERE, FAILED_THERE, FILTERED, REFUSED, Charged, Meaning
from onceward.providers.reading import a_count, a_name, an_object, an_optional_count
from onceward.usecases.ports import ModelReply

UNDER_WAY = ("queued", "in_progress")  # a tuple takes any JSON value for a question, a set does not
BY_ERROR: Mapping[str, Meaning] = {**BY_CODE, "server_error": FAILED_THERE, "vector_store_timeout": FAILED_THERE}
BY_REASON: Mapping[object, Meaning] = {
    "max_output_tokens": Meaning(ErrorClass.INVALID_OUTPUT, "truncated_output"),
    "content_filter": FILTERED,
}


def reference_of(reply: HttpReply) -> str | None:
    """The id under which the response is kept; ``None``: this is no response object."""
    body = reply.json_object() or {}
    return a_name(body.get("id")) if body.get("object") == "response" else None


def read_response(reply: HttpReply, asked_model: str) -> ModelReply | PollReply:
    """The model's reply, or that it is not there yet; raises ``CallFailure`` for an end that is no result."""
    body = reply.json_object() or {}
    status = body.get("status")
    if status in UNDER_WAY:
        return PollReply.PENDING
    charged = Charged(read_usage(body), a_name(body.get("model")) or asked_model, a_name(body.get("id")))
    match status:
        case "completed":
            return _answer(body, charged)
        case "incomplete":
            reason = an_object(body.get("incomplete_details")).get("reason")
            meaning = BY_REASON.get(reason) if isinstance(reason, str) else None
            raise _failed(charged, meaning or Meaning(ErrorClass.INVALID_OUTPUT, "unfinished_answer"))
        case "failed":
            code = an_object(body.get("error")).get("code")
            raise _failed(charged, BY_ERROR.get(code, REFUSED) if isinstance(code, str) else REFUSED)
        case "cancelled":
            raise _failed(charged, CANCELLED_THERE)
        case _:
            return PollReply.UNREACHABLE  # no word that we know: it says nothing of the work


def read_usage(body: Mapping[str, object]) -> Usage | None:
    """The counts of a response; ``None`` if they are missing or contradict each other: then it is unpriced."""
    usage = an_object(body.get("usage"))
    given, made = a_count(usage.get("input_tokens")), a_count(usage.get("output_tokens"))
    cached = an_optional_count(an_object(usage.get("input_tokens_details")).get("cached_tokens"))
    reasoning = an_optional_count(an_object(usage.get("output_tokens_details")).get("reasoning_tokens"))
    if given is None or made is None or cached is None or reasoning is None:
        return None
    if cached > given or reasoning > made:
        return None
    return Usage(input=given, cached=cached, output=made, reasoning=reasoning)


def _answer(body: Mapping[str, object], charged: Charged) -> ModelReply:
    """The text of all messages, joined; reasoning and tools are no text."""
    output = body.get("output")
    items = [an_object(item) for item in output] if isinstance(output, list) else []
    parts = [an_object(part) for item in items if item.get("type") == "message" for part in _parts(item)]
    if any(part.get("type") == "refusal" for part in parts):
        raise charged.failure(ErrorClass.POLICY_REJECTED, "model_refused")
    texts = (part.get("text") for part in parts if part.get("type") == "output_text")
    text = "".join(one for one in texts if isinstance(one, str))
    has_tools = any(item.get("type") == "function_call" for item in items)
    if not text.strip() and not has_tools:
        raise charged.failure(ErrorClass.INVALID_OUTPUT, "empty_answer")
    return ModelReply(
        text="" if has_tools else text,
        finish="tools" if has_tools else "stop",
        model=charged.model,
        usage=charged.usage,
        request_id=charged.request_id,
    )


def _parts(item: Mapping[str, object]) -> list[object]:
    """A message's content."""
    content = item.get("content")
    return content if isinstance(content, list) else []


def _failed(charged: Charged, meaning: Meaning) -> Exception:
    """An end of that meaning; what was charged for it is unknown, and not nothing, where no usage is told."""
    return charged.failure(meaning.error_class, meaning.code)
