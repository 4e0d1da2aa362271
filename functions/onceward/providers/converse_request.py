"""The arguments of a Bedrock Converse call. The same request always gives the same arguments.

No temperature is sent: newer models answer 400 to any. JSON is asked for in words: Converse's own output format is
known to few models and to no boto3 of a Lambda runtime that is a few months old.
"""

from __future__ import annotations

from typing import Any

from onceward.domain.names import DownstreamKey
from onceward.providers.schema_words import system_text, turns_of
from onceward.usecases.ports import ModelRequest

KEY_NAME = "onceward_key"  # in the invocation log, where a person can find what became of a call


def arguments_of(request: ModelRequest, model: str, key: DownstreamKey) -> dict[str, Any]:
    """What ``converse`` is called with."""
    arguments: dict[str, Any] = {
        "modelId": model,
        "messages": [{"role": role, "content": [{"text": text}]} for role, text in turns_of(request)],
        "inferenceConfig": {"maxTokens": request.max_output_tokens},
        "requestMetadata": {KEY_NAME: key},
    }
    if system := system_text(request, with_schema=True):
        arguments["system"] = [{"text": system}]
    return arguments
