"""Ask for JSON in words, where a server cannot be made to give it: the schema goes into the instruction.

The answer is validated all the same, so this changes how often the model is right and never what is accepted.
"""

from __future__ import annotations

from onceward.usecases.ports import ModelRequest

_WISH = "Answer with one JSON object of this JSON schema and with nothing else:\n"


def system_text(request: ModelRequest, *, with_schema: bool) -> str:
    """The request's system messages as one text; ``with_schema`` adds the shape that the answer must have."""
    said = [text for role, text in request.messages if role == "system"]
    if with_schema and request.json_schema is not None:
        said.append(_WISH + request.json_schema)
    return "\n\n".join(said)


def turns_of(request: ModelRequest) -> list[tuple[str, str]]:
    """All messages but the system's, in their order."""
    return [(role, text) for role, text in request.messages if role != "system"]
