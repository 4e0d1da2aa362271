"""Read a model's answer strictly: what does not fit is an error, named by its place.

Nothing is repaired but what a rule can strip without guessing: a code fence, and reasoning before ``</think>``. A
repair that closes brackets, quotes keys or drops a remark could invent or lose content, and none is made. Errors name
the field and the rule that it broke, never what stood there: a member that the schema does not know is ``?``, for its
name is the model's, and what the model says a document may have told it to say.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Never

from pydantic import BaseModel, ValidationError

from onceward.errors import JobFailure
from onceward.usecases.ports import ModelReply

# Two searches, each once: one expression for both would look for the end anew from every beginning, and hold the
# interpreter, with it the heartbeats of all jobs, for hours over a long answer made of beginnings.
_FENCE_OPENS = re.compile(r"```(?:json)?[ \t]*\r?\n", re.IGNORECASE)
_FENCE_CLOSES = re.compile(r"\r?\n[ \t]*```")
_END_OF_THOUGHT = "</think>"
_MAX_PLACE = 120  # characters of a field's path in an error
_MOST_FAULTS = 20  # told of one answer; whoever made more has misread the whole schema
_MOST_LISTED = 1_000  # faults made into objects; the rest of a long answer's would only fill the worker's memory
_MOST_VALUES = 100_000  # at one fault each, 50 MB and a second of the worker's one loop; prose has a comma in sixty


@dataclass(frozen=True, slots=True)
class Fault:
    """A rule that an answer broke, and where: a JSON pointer."""

    rule: str
    place: str = ""

    def __str__(self) -> str:
        """``rule at /path/0/field``."""
        return f"{self.rule} at {self.place}" if self.place else self.rule


class Unusable(JobFailure):
    """An answer that is no result. Asking once more may mend it; left to itself it is final."""

    code = "invalid_output"

    def __init__(self, faults: Sequence[Fault]) -> None:
        """The first fault is the one that the user is told."""
        super().__init__(str(faults[0]))
        self.faults = tuple(faults[:_MOST_FAULTS])


def unusable(faults: Sequence[Fault]) -> Unusable:
    """The error of these faults, their places cut to what a person reads."""
    return Unusable([Fault(fault.rule, fault.place[:_MAX_PLACE]) for fault in faults])


def whole_text(reply: ModelReply) -> str:
    """The text of a reply that the model ended by itself; raises ``JobFailure`` for any other end."""
    if reply.finish != "stop":
        raise JobFailure("unfinished_answer", code="invalid_output")  # asking for the same again would end so again
    return reply.text


def read_answer[M: BaseModel](reply: ModelReply, model: type[M]) -> M:
    """The reply as ``model``, read strictly from exactly one JSON object; raises ``Unusable``."""
    parsed = _parse(_json_part(whole_text(reply)))
    try:
        # Through JSON once more: in strict mode only JSON input may give dates and enumerations as strings.
        return model.model_validate_json(json.dumps(parsed), strict=True)
    except ValidationError as error:
        if error.error_count() > _MOST_LISTED:
            raise unusable([Fault("schema_mismatch (too_many_faults)")]) from None
        found = error.errors(include_url=False, include_context=False, include_input=False)
        known = _members(model.model_json_schema())
        faults = [Fault(f"schema_mismatch ({one['type']})", _place(one["loc"], known)) for one in found]
        raise unusable(faults) from None


def _place(steps: Iterable[int | str], known: frozenset[str]) -> str:
    """A JSON pointer of indices and of the schema's own words."""
    return "".join(f"/{step if isinstance(step, int) or step in known else '?'}" for step in steps)


def _members(schema: object) -> frozenset[str]:
    """Every name that a schema gives to a member of an object."""
    if isinstance(schema, list):
        return frozenset[str]().union(*map(_members, schema))
    if not isinstance(schema, dict):
        return frozenset()
    named = schema.get("properties")
    own = named.keys() if isinstance(named, dict) else ()
    return frozenset(own).union(*map(_members, schema.values()))


def _json_part(text: str) -> str:
    """The object itself, without the wrapping that models like: reasoning, prose around one fence."""
    text = text.strip().removeprefix("\ufeff")
    if not text.startswith("{") and _END_OF_THOUGHT in text:
        text = text.rpartition(_END_OF_THOUGHT)[2].strip()
    opened = None if text.startswith("{") else _FENCE_OPENS.search(text)
    closed = None if opened is None else _FENCE_CLOSES.search(text, opened.end())
    return text if opened is None or closed is None else text[opened.end() : closed.start()]


def _parse(text: str) -> dict[str, object]:
    """One JSON object with no key twice and no number that JSON does not know."""
    if text.count(",") > _MOST_VALUES:  # each value but the first of a list or an object follows one
        raise unusable([Fault("too_many_values")])
    try:
        parsed = json.loads(
            text, parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_without_duplicates
        )
    except (ValueError, RecursionError):
        raise unusable([Fault("malformed_json")]) from None
    if not isinstance(parsed, dict):
        raise unusable([Fault("malformed_json")])
    return parsed


def _refuse_constant(name: str) -> Never:
    """NaN and the infinities are Python's, not JSON's."""
    raise ValueError(name)


def _finite(text: str) -> float:
    """A number that stays one: ``1e999`` would be stored as infinity."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("not finite")
    return value


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object whose keys are unique: of two values nobody knows which was meant."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key is there twice")
    return made
