"""What a 200 of a chat completion means: text, or a charged answer that is no result.

A refusal, a filtered and a cut answer are failures whose tokens are paid: they carry the usage. A body that is no
chat completion at all is a maybe: something answered, and nobody knows what ran behind it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from onceward.domain.records import Usage
from onceward.domain.retry import ErrorClass
from onceward.providers.chat_errors import failure_of
from onceward.providers.http import HttpReply
from onceward.providers.meaning import Charged
from onceward.providers.reading import a_count, a_name, an_object, an_optional_count
from onceward.usecases.ports import ModelReply

_FINISHES = {"stop": "stop", "tool_calls": "tools", "function_call": "tools"}  # any other word is "other", no success


def read_answer(reply: HttpReply, asked_model: str, now: datetime) -> ModelReply:
    """The model's reply; raises ``CallFailure`` for an answer that is none."""
    body = reply.json_object()
    if body is None or not isinstance(choices := body.get("choices"), list):
        raise failure_of(reply, now)
    request_id = a_name(reply.headers.get("x-request-id")) or a_name(body.get("id"))
    charged = Charged(read_usage(body), a_name(body.get("model")) or asked_model, request_id)
    choice = an_object(choices[0] if choices else None)
    message = an_object(choice.get("message"))
    if not message:
        raise charged.failure(ErrorClass.INVALID_OUTPUT, "empty_answer")
    finish = choice.get("finish_reason")
    if message.get("refusal") or finish == "content_filter":
        code = "model_refused" if message.get("refusal") else "content_filtered"
        raise charged.failure(ErrorClass.POLICY_REJECTED, code)
    if finish == "length":
        raise charged.failure(ErrorClass.INVALID_OUTPUT, "truncated_output")
    return ModelReply(
        text=_text(message, charged),
        finish=_FINISHES.get(finish, "other") if isinstance(finish, str) else "other",
        model=charged.model,
        usage=charged.usage,
        request_id=request_id,
    )


def read_usage(body: Mapping[str, object]) -> Usage | None:
    """The counts of an answer; ``None`` if they are missing or contradict each other: then it is unpriced.

    OpenAI's cached tokens are part of the prompt's, its reasoning tokens part of the completion's.
    """
    usage = an_object(body.get("usage"))
    prompt, completion = a_count(usage.get("prompt_tokens")), a_count(usage.get("completion_tokens"))
    cached = an_optional_count(an_object(usage.get("prompt_tokens_details")).get("cached_tokens"))
    reasoning = an_optional_count(an_object(usage.get("completion_tokens_details")).get("reasoning_tokens"))
    if prompt is None or completion is None or cached is None or reasoning is None:
        return None
    if cached > prompt or reasoning > completion:
        return None
    return Usage(input=prompt, cached=cached, output=completion, reasoning=reasoning)


def _text(message: Mapping[str, object], charged: Charged) -> str:
    """The content; none is no answer, unless the model called tools instead."""
    content = message.get("content")
    if content is None and message.get("tool_calls"):
        return ""
    if not isinstance(content, str) or not content.strip():
        raise charged.failure(ErrorClass.INVALID_OUTPUT, "empty_answer")
    return content
