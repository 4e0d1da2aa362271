"""Ask for an answer of a given shape, and once more if it has another: the second question says what was wrong.

The second question is a step of its own, ``<step>-again``: journaled, guarded and paid for once, like the first. It is
made from the first one's stored answer, so a repeated run asks exactly the same. What is still no result then is final
``invalid_output``. An answer that was cut, refused or filtered is not asked for again: it would end so again.
"""

from __future__ import annotations

from collections.abc import Callable

from pydantic import BaseModel

from onceward.kinds.answers import Unusable, read_answer
from onceward.usecases.context import Context
from onceward.usecases.ports import ModelReply

AGAIN = "-again"

type Messages = list[tuple[str, str]]


async def ask_for[M: BaseModel](
    context: Context, step: str, messages: Messages, answer: type[M], *, max_output_tokens: int = 4096
) -> M:
    """The model's answer as ``answer``; raises ``JobFailure`` (``invalid_output``) and ``CallFailure``."""
    return await ask_and_check(
        context, step, messages, answer, lambda found: found, max_output_tokens=max_output_tokens
    )


async def ask_and_check[M: BaseModel, T](
    context: Context,
    step: str,
    messages: Messages,
    answer: type[M],
    check: Callable[[M], T],
    *,
    max_output_tokens: int = 4096,
) -> T:
    """As ``ask_for``, with a rule of the kind's own: ``check`` gives the result, or raises ``Unusable``."""

    async def ask(name: str, said: Messages) -> ModelReply:
        return await context.model.generate(name, said, answer=answer, max_output_tokens=max_output_tokens)

    reply = await ask(step, messages)
    try:
        return check(read_answer(reply, answer))
    except Unusable as wrong:
        question = _again(messages, reply, wrong)
    return check(read_answer(await ask(step + AGAIN, question), answer))


def _again(messages: Messages, reply: ModelReply, wrong: Unusable) -> Messages:
    """The talk so far, and what is wrong with its last word."""
    faults = "\n".join(f"- {fault}" for fault in wrong.faults)
    wish = (
        f"That answer cannot be used:\n{faults}\n"
        "Answer once more, completely, with one JSON object of the schema and nothing else. Invent nothing."
    )
    return [*messages, ("assistant", reply.text), ("user", wish)]
