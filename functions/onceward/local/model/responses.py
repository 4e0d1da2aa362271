"""Speak OpenAI's responses: translate a request into a completion's, and what came of it into a response object."""

import json
from collections.abc import Mapping
from typing import Any

from onceward.local.model.stand_in import Reply

_OK = 200
_REASONS = {"length": "max_output_tokens", "content_filter": "content_filter"}


def as_chat_of_response(body: Mapping[str, Any]) -> bytes:
    """Translate a request."""
    chat = {
        "model": body.get("model"),
        "messages": body.get("input"),
        "max_completion_tokens": body.get("max_output_tokens"),
        "metadata": body.get("metadata"),
    }
    text = body.get("text")
    shape = text.get("format") if isinstance(text, dict) else None
    if isinstance(shape, dict) and shape.get("type") == "json_schema":
        schema = {"name": shape.get("name"), "schema": shape.get("schema")}
        chat["response_format"] = {"type": "json_schema", "json_schema": schema}
    return json.dumps(chat).encode()


def as_response(name: str, model: str, created: int, reply: Reply | None, status: str | None) -> dict[str, Any]:
    """Return the response object of work; ``status`` says more than its reply."""
    response: dict[str, Any] = {
        "id": name,
        "object": "response",
        "created_at": created,
        "model": model,
        "background": True,
        "status": status or ("in_progress" if reply is None else "completed"),
        "error": None,
        "incomplete_details": None,
        "output": [],
        "usage": None,
    }
    if reply is None or status is not None:
        return response
    body = json.loads(reply.body) if reply.body.startswith(b"{") else {}
    if reply.status != _OK or reply.drop is not None or "choices" not in body:
        told = body.get("error")
        error = told if isinstance(told, dict) else {}
        failure = {"code": error.get("code") or "server_error", "message": str(error.get("message", ""))}
        return {**response, "status": "failed", "error": failure}
    return {**response, **_ended(body)}


def _ended(completion: Mapping[str, Any]) -> dict[str, Any]:
    choices: list[dict[str, Any]] = completion["choices"] or [{"message": {}, "finish_reason": "stop"}]
    choice = choices[0]
    text, refusal = choice["message"].get("content"), choice["message"].get("refusal")
    part = {"type": "refusal", "refusal": refusal} if refusal else {"type": "output_text", "text": text}
    output = [{"type": "message", "role": "assistant", "content": [part]}] if refusal or text else []
    reason = _REASONS.get(choice["finish_reason"])
    ended: dict[str, Any] = {"output": output, "usage": _usage(completion.get("usage"))}
    if reason is not None:
        ended |= {"status": "incomplete", "incomplete_details": {"reason": reason}}
    return ended


def _usage(usage: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if usage is None:
        return None
    return {
        "input_tokens": usage["prompt_tokens"],
        "input_tokens_details": usage.get("prompt_tokens_details") or {},
        "output_tokens": usage["completion_tokens"],
        "output_tokens_details": usage.get("completion_tokens_details") or {},
        "total_tokens": usage["prompt_tokens"] + usage["completion_tokens"],
    }
