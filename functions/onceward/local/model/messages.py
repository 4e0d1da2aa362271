"""Speak Anthropic's messages in front of the same stand-in: requests are translated, and so are answers and errors.

What a test asked for with a body of its own goes out as the test wrote it.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from onceward.local.model.chat import format_of, schema_in
from onceward.local.model.stand_in import Reply, StandIn

_OK = 200
_STOPS = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}
_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}


def serve_messages(stand_in: StandIn, raw: bytes, headers: Mapping[str, str], caller_left: Callable[[], bool]) -> Reply:
    """Serve one request of the messages API. Header names are in lower case."""
    reply = stand_in.chat(as_chat(raw), headers, caller_left)
    told = {"request-id" if name == "x-request-id" else name: value for name, value in reply.headers.items()}
    if not reply.body:
        return replace(reply, headers=told)
    body = json.loads(reply.body) if reply.body.startswith(b"{") else None
    if not isinstance(body, dict):
        return replace(reply, headers=told)
    if reply.status == _OK and "choices" in body:
        return replace(reply, body=json.dumps(as_message(body)).encode(), headers=told)
    if "type" not in body and isinstance(body.get("error"), dict):
        return replace(reply, body=json.dumps(as_error(reply.status, body["error"])).encode(), headers=told)
    return replace(reply, headers=told)


def as_chat(raw: bytes) -> bytes:
    """Translate a request; what is no JSON object is left for the other side to refuse."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        return raw
    if not isinstance(body, dict):
        return raw
    messages = body.get("messages")
    system = body.get("system")
    if isinstance(messages, list) and isinstance(system, str):
        messages = [{"role": "system", "content": system}, *messages]
    chat = {"model": body.get("model"), "messages": messages, "max_tokens": body.get("max_tokens")}
    wanted = body.get("output_config")
    shape = wanted.get("format") if isinstance(wanted, dict) else None
    if isinstance(shape, dict) and shape.get("type") == "json_schema":
        schema = shape.get("schema")
    else:
        schema = schema_in(system if isinstance(system, str) else "")
    return json.dumps({**chat, **format_of(schema)}).encode()


def as_message(completion: Mapping[str, Any]) -> dict[str, Any]:
    """Translate an answer, awkward forms included."""
    choices: list[dict[str, Any]] = completion["choices"] or [{"message": {}, "finish_reason": "stop"}]
    choice = choices[0]
    text, refusal = choice["message"].get("content"), choice["message"].get("refusal")
    message = {
        "id": completion["id"].replace("chatcmpl-", "msg-"),
        "type": "message",
        "role": "assistant",
        "model": completion["model"],
        "content": [{"type": "text", "text": refusal or text}] if refusal or text else [],
        "stop_reason": "refusal" if refusal else _STOPS.get(choice["finish_reason"], choice["finish_reason"]),
        "stop_sequence": None,
    }
    usage = completion.get("usage")
    if usage is None:
        return message
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
    counts = {
        "input_tokens": usage["prompt_tokens"] - cached,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": 0,
        "output_tokens": usage["completion_tokens"],
    }
    return {**message, "usage": counts}


def as_error(status: int, error: Mapping[str, Any]) -> dict[str, Any]:
    """Translate an error of the stand-in's own."""
    kind = _TYPES.get(status, "overloaded_error" if status in (503, 529) else "api_error")
    return {"type": "error", "error": {"type": kind, "message": error.get("message", "")}, "request_id": "req-stand-in"}
