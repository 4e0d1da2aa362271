"""A step that calls nobody: code of the kind's own, run once, whose result is the step's accepted answer.

There is no ``sent`` before it, as there is for a call: nothing outside could be a maybe. Whoever dies before the result
is stored has left nothing, and the code runs again; none of its results has been seen by then.

=====================================  ====================================================================
we die                                 what is left, and who goes on
=====================================  ====================================================================
before the result's item               nothing: the code runs again
between item and fenced write          an item that no row names: the next attempt runs the code again, and a
                                       second run of this one takes what is there
after the fenced write                 the accepted result: the code never runs again
=====================================  ====================================================================

What the kind's code gets is what was stored, at the first time too, so that no later attempt sees anything else: a
tuple is a list from the start.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from inspect import isawaitable

from pydantic import BaseModel, JsonValue, ValidationError

from onceward.domain.names import StepKey
from onceward.domain.records import ANSWER_LIMIT
from onceward.errors import JobFailure
from onceward.usecases.call_fingerprint import call_fingerprint
from onceward.usecases.keep_answer import CHANGED
from onceward.usecases.make_call import CallMaker
from onceward.usecases.question import check_writable

type Model = type[BaseModel] | None


async def take_step(
    calls: CallMaker, step: StepKey, fn: Callable[[], object], given: JsonValue, answer: Model
) -> BaseModel | JsonValue:
    """The step's result, as JSON or as the model that was named; see ``context.Context.step``.

    A stored result that is none of the model any more is another step's: the code has changed.
    """
    check_writable(given)
    text = await calls.take(step, call_fingerprint("step", [step, given]), lambda: _made(fn, answer))
    try:
        return _read(text, answer)
    except ValidationError:
        raise JobFailure("the stored result is not of this step's model", code=CHANGED) from None


async def _made(fn: Callable[[], object], answer: Model) -> str:
    """Run the code; its result as JSON that everybody can read. Raises ``JobFailure`` for what could not be stored."""
    made = fn()
    if isawaitable(made):
        made = await made
    value = made if answer is None else answer.model_validate(made).model_dump(mode="json")
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError):
        raise JobFailure("a step's result is JSON, or of the model it names", code="step_not_json") from None
    if size > ANSWER_LIMIT:
        raise JobFailure("a step's result is too large; large content is a document", code="step_too_large")
    _read(text, answer)  # what cannot be read back must not be accepted
    return text


def _read(text: str, answer: Model) -> BaseModel | JsonValue:
    """The result, as it was stored."""
    read: BaseModel | JsonValue = json.loads(text) if answer is None else answer.model_validate_json(text)
    return read
