"""The body of an OpenAI responses request in background mode. The same request always gives the same bytes.

It is stored at the provider, which background mode asks for, and carries our key as metadata, for a person who looks
there.
"""

from __future__ import annotations

import json

from onceward.domain.names import DownstreamKey
from onceward.providers.chat_request import FIXED_TEMPERATURE, KEY_NAME, is_closed
from onceward.usecases.ports import ModelRequest


def body_of(request: ModelRequest, model: str, key: DownstreamKey) -> bytes:
    """The request as JSON."""
    body: dict[str, object] = {
        "model": model,
        "input": [{"role": role, "content": text} for role, text in request.messages],
        "max_output_tokens": request.max_output_tokens,
        "background": True,
        "store": True,
        "metadata": {KEY_NAME: key},
    }
    if not model.startswith(FIXED_TEMPERATURE):
        body["temperature"] = request.temperature
    if request.json_schema is not None:
        schema = json.loads(request.json_schema)
        wanted = {"type": "json_schema", "name": request.schema_name, "schema": schema, "strict": is_closed(schema)}
        body["text"] = {"format": wanted}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
