"""The body of an Anthropic messages request. The same request always gives the same bytes.

No temperature is sent: models since Claude Opus 4.7 answer 400 to any. A closed JSON schema is enforced by the API
(``output_config.format``) on models that can; for the others, and for an open schema, it is asked for in words.
"""

from __future__ import annotations

import json

from onceward.providers.chat_request import is_closed
from onceward.providers.schema_words import system_text, turns_of
from onceward.usecases.ports import ModelRequest

# Families from before structured outputs: asked for a format they answer 400.
WITHOUT_FORMATS = (
    "claude-2",
    "claude-3",
    "claude-instant",
    "claude-opus-4-0",
    "claude-opus-4-2025",
    "claude-sonnet-4-0",
    "claude-sonnet-4-2025",
)


def body_of(request: ModelRequest, model: str) -> bytes:
    """The request as JSON, not streamed."""
    schema = None if request.json_schema is None else json.loads(request.json_schema)
    is_enforced = schema is not None and is_closed(schema) and not model.startswith(WITHOUT_FORMATS)
    body: dict[str, object] = {
        "model": model,
        "max_tokens": request.max_output_tokens,
        "messages": [{"role": role, "content": text} for role, text in turns_of(request)],
    }
    if system := system_text(request, with_schema=not is_enforced):
        body["system"] = system
    if is_enforced:
        body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
