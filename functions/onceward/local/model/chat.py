"""Read chat completion requests and shape their answers and errors as OpenAI's API does."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from onceward.local.model import STAND_IN_MODEL, STAND_IN_NOTICE
from onceward.local.model.behaviours import Form

MODEL_PREFIX = "onceward-stand-in-"  # other numbers are accepted too, so that tests can tell models apart
_CHARACTERS_PER_TOKEN = 4  # the usual rule of thumb for English; a stand-in has no tokenizer
_OUTPUT_TOKENS = 128_000  # as many as the larger models give
_REFUSAL = f"I cannot help with that. ({STAND_IN_NOTICE})"


class RefusedRequest(Exception):
    """A request that is answered with an error of the API: `status` and an error body."""

    def __init__(self, status: int, message: str, *, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.body = error_body(message, "invalid_request_error", param=param, code=code)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """What the server needs to know of a request."""

    model: str
    messages: tuple[tuple[str, str], ...]
    response_format: Mapping[str, Any]
    max_tokens: int | None
    metadata: Mapping[str, Any]
    is_stored: bool = False

    @property
    def prompt(self) -> str:
        """All messages' text, for markers and sizes."""
        return "\n".join(text for _, text in self.messages)

    @property
    def most_characters(self) -> int:
        """How long an answer may be; a model has a limit of its own where none is asked for."""
        return (self.max_tokens or _OUTPUT_TOKENS) * _CHARACTERS_PER_TOKEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A computed answer: its body and what it used. Kept to be replayed and looked up."""

    body: Mapping[str, Any]
    prompt_tokens: int
    completion_tokens: int


def read_chat_request(raw: bytes) -> ChatRequest:
    """Read and check a request body."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise RefusedRequest(400, "We could not parse the JSON body of your request.") from None
    if not isinstance(body, dict):
        raise RefusedRequest(400, "The body must be a JSON object.")
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise RefusedRequest(400, "you must provide a model parameter", param="model")
    if not model.startswith(MODEL_PREFIX):
        message = f"The model `{model}` does not exist; this stand-in serves `{STAND_IN_MODEL}`"
        raise RefusedRequest(404, message, param="model", code="model_not_found")
    if body.get("stream"):
        raise RefusedRequest(400, "The stand-in does not stream.", param="stream", code="unsupported_value")
    if body.get("n", 1) != 1:
        raise RefusedRequest(400, "The stand-in gives one choice.", param="n", code="unsupported_value")
    return ChatRequest(
        model=model,
        messages=_read_messages(body.get("messages")),
        response_format=_read_object(body, "response_format"),
        max_tokens=_read_limit(body),
        metadata=_read_object(body, "metadata"),
        is_stored=body.get("store") is True,
    )


def _read_messages(messages: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(messages, list) or not messages:
        raise RefusedRequest(400, "Missing or empty parameter: 'messages'.", param="messages")
    if not all(isinstance(message, dict) and isinstance(message.get("role"), str) for message in messages):
        raise RefusedRequest(400, "Each message is an object with a role.", param="messages")
    return tuple((message["role"], _text_of(message.get("content"))) for message in messages)


def _text_of(content: Any) -> str:
    """Join a message's text parts; other parts (images) are nothing to an extractive analyser."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(
        str(part.get("text", "")) for part in parts if isinstance(part, dict) and part.get("type") == "text"
    )


def _read_object(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = body.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise RefusedRequest(400, f"'{name}' must be an object.", param=name)
    return value


def _read_limit(body: Mapping[str, Any]) -> int | None:
    limit = body.get("max_completion_tokens", body.get("max_tokens"))
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise RefusedRequest(400, "The token limit must be a positive integer.", param="max_tokens")
    return limit


def schema_in(instructions: str) -> dict[str, Any] | None:
    """Find the JSON schema that instructions end with, where an API is asked for JSON in words."""
    try:
        found = json.loads(instructions[instructions.rindex("\n{") :])
    except ValueError:
        return None
    return found if isinstance(found, dict) and "properties" in found else None


def format_of(schema: object) -> dict[str, Any]:
    """Return the part of a request that asks for JSON of that schema; nothing for none."""
    if schema is None:
        return {}
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}}


def complete(request: ChatRequest, content: str, *, identity: str, created: int) -> Completion:
    """Wrap content as a completion; a limit on tokens cuts it and says so, as a model's does."""
    prompt_tokens = sum(count_tokens(text) + 4 for _, text in request.messages)  # 4: the usual overhead of a message
    completion_tokens = count_tokens(content)
    finish_reason = "stop"
    if request.max_tokens is not None and completion_tokens > request.max_tokens:
        content, finish_reason = content[: request.max_tokens * _CHARACTERS_PER_TOKEN], "length"
        completion_tokens = request.max_tokens
    body = {
        "id": identity,
        "object": "chat.completion",
        "created": created,
        "model": request.model,
        "system_fingerprint": STAND_IN_NOTICE,
        "choices": [_choice(content, finish_reason)],
        "usage": _usage(prompt_tokens, completion_tokens),
    }
    return Completion(body=body, prompt_tokens=prompt_tokens, completion_tokens=completion_tokens)


def reshape(completion: Completion, form: Form | None, usage: Mapping[str, int] | Literal[False] | None) -> Completion:
    """Give a computed answer an awkward form, or another usage than counted."""
    body = dict(completion.body)
    content = body["choices"][0]["message"]["content"]
    match form:
        case "malformed_json":
            body["choices"] = [_choice(content[: len(content) * 2 // 3] + ' "', "stop")]
        case "truncated":
            body["choices"] = [_choice(content[: len(content) // 2], "length")]
        case "empty_choices":
            body["choices"] = []
        case "empty_content":
            body["choices"] = [_choice("", "stop")]
        case "refusal":
            body["choices"] = [_choice(None, "stop", refusal=_REFUSAL)]
        case "content_filter":
            body["choices"] = [_choice("", "content_filter")]
        case None:
            pass
    if usage is False:
        del body["usage"]
    elif isinstance(usage, Mapping):
        body["usage"] = body["usage"] | dict(usage)
    told = body.get("usage", completion.body["usage"])  # the counts agree with what the caller was told
    return replace(
        completion, body=body, prompt_tokens=told["prompt_tokens"], completion_tokens=told["completion_tokens"]
    )


def _choice(content: str | None, finish_reason: str, *, refusal: str | None = None) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, "refusal": refusal}
    return {"index": 0, "message": message, "logprobs": None, "finish_reason": finish_reason}


def _usage(prompt_tokens: int, completion_tokens: int) -> dict[str, Any]:
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def count_tokens(text: str) -> int:
    """Estimate tokens by length."""
    return -(-len(text) // _CHARACTERS_PER_TOKEN)


def model_list() -> dict[str, Any]:
    """Return the answer of `GET /v1/models`."""
    return {
        "object": "list",
        "data": [{"id": STAND_IN_MODEL, "object": "model", "created": 0, "owned_by": STAND_IN_NOTICE}],
    }


def error_body(message: str, kind: str, *, param: str | None = None, code: str | None = None) -> dict[str, Any]:
    """Return an error in the API's shape."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}
