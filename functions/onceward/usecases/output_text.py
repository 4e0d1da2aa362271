"""An output as the text that is stored, whoever gave it: a kind's code, or a person with a verdict."""

from __future__ import annotations

import json

from pydantic import BaseModel


def output_text(output: BaseModel) -> str:
    """The output's JSON; raises ``ValueError`` for one that is not JSON to everybody.

    A NaN (which a float's field reads from the string "NaN" too), half a surrogate and an object could be stored and
    never be read. Serializers are the kind's own code, and may raise anything.
    """
    try:
        text = json.dumps(output.model_dump(mode="json"), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text.encode()
    except Exception:  # noqa: BLE001  # as said above
        raise ValueError("the output is no JSON") from None
    return text
