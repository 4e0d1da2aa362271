"""Speak Bedrock's Converse in front of the same stand-in: requests are translated, and so are answers and errors.

What a test asked for with a body of its own goes out as the test wrote it. Signatures are not looked at.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from onceward.local.model.chat import format_of, schema_in
from onceward.local.model.stand_in import Reply, StandIn

PLACE = re.compile(r"(?:/v1)?/model/(?P<model>[^/]+)/converse")  # as boto3 makes it of an endpoint
_OK = 200
_STOPS = {"stop": "end_turn", "length": "max_tokens", "content_filter": "content_filtered"}
_ERRORS = {
    400: "ValidationException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    408: "ModelTimeoutException",
    424: "ModelErrorException",
    429: "ThrottlingException",
    503: "ServiceUnavailableException",
}


def serve_converse(
    stand_in: StandIn, model: str, raw: bytes, headers: Mapping[str, str], caller_left: Callable[[], bool]
) -> Reply:
    """Serve one request for a model of that quoted name. Header names are in lower case."""
    chat = as_chat(unquote(model), raw)
    key = chat.get("metadata", {}).get("onceward_key")
    told = {**headers, "idempotency-key": key} if key else headers  # tests count by it; Converse dedupes by nothing
    reply = stand_in.chat(json.dumps(chat).encode(), told, caller_left)
    given = {"x-amzn-requestid" if name == "x-request-id" else name: value for name, value in reply.headers.items()}
    body = json.loads(reply.body) if reply.body.startswith(b"{") else None
    if isinstance(body, dict) and reply.status == _OK and "choices" in body:
        return replace(reply, body=json.dumps(as_converse(body)).encode(), headers=given)
    if isinstance(body, dict) and isinstance(body.get("error"), dict) and "x-amzn-errortype" not in given:
        given["x-amzn-errortype"] = _ERRORS.get(reply.status, "InternalServerException")
        return replace(reply, body=json.dumps({"message": body["error"].get("message", "")}).encode(), headers=given)
    return replace(reply, headers=given)


def as_chat(model: str, raw: bytes) -> dict[str, Any]:
    """Translate a request; what is missing is left for the other side to refuse."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        body = {}
    body = body if isinstance(body, dict) else {}
    system, turns = body.get("system"), body.get("messages")
    said = _text_of(system)
    messages: list[dict[str, Any]] = [{"role": "system", "content": said}] if said else []
    for turn in turns if isinstance(turns, list) else []:
        known = turn if isinstance(turn, dict) else {}
        messages.append({"role": known.get("role"), "content": _text_of(known.get("content"))})
    limits = body.get("inferenceConfig")
    chat: dict[str, Any] = {
        "model": model,
        "messages": messages,
        "max_tokens": limits.get("maxTokens") if isinstance(limits, dict) else None,
        "metadata": body.get("requestMetadata") or {},
    }
    return {**chat, **format_of(schema_in(said))}


def as_converse(completion: Mapping[str, Any]) -> dict[str, Any]:
    """Translate an answer, awkward forms included; a refusal is text, as it has no form of its own there."""
    choices: list[dict[str, Any]] = completion["choices"] or [{"message": {}, "finish_reason": "stop"}]
    choice = choices[0]
    text = choice["message"].get("refusal") or choice["message"].get("content")
    answer = {
        "metrics": {"latencyMs": 1},
        "output": {"message": {"role": "assistant", "content": [{"text": text}] if text else []}},
        "stopReason": _STOPS.get(choice["finish_reason"], choice["finish_reason"]),
    }
    usage = completion.get("usage")
    if usage is None:
        return answer
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
    fresh, made = usage["prompt_tokens"] - cached, usage["completion_tokens"]
    counts = {"inputTokens": fresh, "cacheReadInputTokens": cached, "outputTokens": made, "totalTokens": fresh + made}
    return {**answer, "usage": counts}


def _text_of(blocks: Any) -> str:
    """Join the text blocks of a turn, or of the instructions."""
    known = [block for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []
    return "\n\n".join(str(block["text"]) for block in known if "text" in block)
