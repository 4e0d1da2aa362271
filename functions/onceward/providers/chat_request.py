"""The body of a chat completion request. The same request always gives the same bytes."""

from __future__ import annotations

import json
from typing import Literal
from urllib.parse import urlsplit

from onceward.domain.names import DownstreamKey
from onceward.usecases.ports import ModelRequest

type LimitField = Literal["max_completion_tokens", "max_tokens"]

# Families that reason take no temperature but their own: asked for another they answer 400.
FIXED_TEMPERATURE = ("o1", "o3", "o4", "gpt-5", "gpt-6")
KEY_NAME = "onceward_key"  # of the metadata by which a stored request is found again
_OPENAI_HOSTS = (".openai.com", ".azure.com")


def limit_field_of(base_url: str) -> LimitField:
    """OpenAI has retired ``max_tokens``; many servers that speak its dialect know nothing else. Both at once: 400."""
    host = f".{urlsplit(base_url).hostname or ''}"
    return "max_completion_tokens" if host.endswith(_OPENAI_HOSTS) else "max_tokens"


def body_of(
    request: ModelRequest, model: str, limit_field: LimitField, *, stored_as: DownstreamKey | None = None
) -> bytes:
    """The request as JSON, one choice, not streamed; ``stored_as``: kept there, to be found by this key."""
    body: dict[str, object] = {
        "model": model,
        "messages": [{"role": role, "content": text} for role, text in request.messages],
        limit_field: request.max_output_tokens,
    }
    if not model.startswith(FIXED_TEMPERATURE):
        body["temperature"] = request.temperature
    if stored_as is not None:
        body["store"] = True
        body["metadata"] = {KEY_NAME: stored_as}
    if request.json_schema is not None:
        schema = json.loads(request.json_schema)
        wanted = {"name": request.schema_name, "schema": schema, "strict": is_closed(schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": wanted}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def is_closed(schema: object) -> bool:
    """Whether every object in a schema requires all it may hold: OpenAI refuses ``strict`` for any other with a 400."""
    if isinstance(schema, list):
        return all(is_closed(part) for part in schema)
    if not isinstance(schema, dict):
        return True
    if isinstance(properties := schema.get("properties"), dict):
        is_whole = schema.get("additionalProperties") is False and set(schema.get("required", ())) == set(properties)
        return is_whole and all(is_closed(part) for part in (*properties.values(), *_definitions(schema)))
    if schema.get("type") == "object":
        return False
    return all(is_closed(part) for part in schema.values())


def _definitions(schema: dict[str, object]) -> list[object]:
    """The schema's own named parts."""
    definitions = schema.get("$defs")
    return list(definitions.values()) if isinstance(definitions, dict) else []
