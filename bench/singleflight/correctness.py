"""What becomes of the others: one question per way in which shared calls go wrong, asked of every peer alike.

Each question gets a fresh flight on a fresh loop and answers ``(is it right, what happened)``. Whatever hangs is
given up after ``PATIENCE``, which is far beyond the milliseconds that the questions take.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable
from contextvars import ContextVar

from bench.singleflight.peers import Do, Peer

PATIENCE = 2.0  # seconds
WORK = 0.1  # seconds: long enough that every caller has joined on a busy machine
CALLERS = 20

USER: ContextVar[str] = ContextVar("USER", default="nobody")

type Verdict = tuple[bool, str]
type Question = Callable[[Do], Awaitable[Verdict]]


class Works:
    """A factory that counts."""

    def __init__(self, *, fails: bool = False, seconds: float = WORK) -> None:
        """Answer or fail after a while."""
        self.calls = self.cancelled = 0
        self.fails = fails
        self.seconds = seconds

    async def __call__(self) -> object:
        """Work."""
        self.calls += 1
        try:
            await asyncio.sleep(self.seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.fails:
            raise ValueError("broken")
        return "value"


def _ask(do: Do, factory: Callable[[], Awaitable[object]], callers: int = CALLERS) -> list[asyncio.Task[object]]:
    async def caller() -> object:
        return await do("k", factory)

    return [asyncio.get_running_loop().create_task(caller()) for _ in range(callers)]


async def _answers(tasks: list[asyncio.Task[object]]) -> list[object]:
    """What each task got; what still waits when patience ends has hung."""
    await asyncio.wait(tasks, timeout=PATIENCE)
    answers = [_answer(task) for task in tasks]
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks, timeout=PATIENCE)
    return answers


def _answer(task: asyncio.Task[object]) -> object:
    if not task.done():
        return "hangs"
    if task.cancelled():
        return "cancelled"
    return task.exception() or task.result()


async def _with_one_cancelled(do: Do, leaver: int) -> Verdict:
    works = Works()
    asked = _ask(do, works)
    await asyncio.sleep(WORK / 4)
    asked.pop(leaver).cancel()
    answers = await _answers(asked)
    served = sum(answer == "value" for answer in answers)
    others = next((f", the others: {_name(answer)}" for answer in answers if answer != "value"), "")
    calls = "" if works.calls == 1 else f", {works.calls} calls"
    return served == len(asked) and works.calls == 1, f"{served}/{len(asked)} served{others}{calls}"


def _name(answer: object) -> str:
    return type(answer).__name__ if isinstance(answer, BaseException) else f"{answer}"


async def first_cancelled(do: Do) -> Verdict:
    """The first of twenty callers is cancelled: the others must be served by the same call."""
    return await _with_one_cancelled(do, 0)


async def another_cancelled(do: Do) -> Verdict:
    """A caller who joined is cancelled: the others must be served by the same call."""
    return await _with_one_cancelled(do, 5)


async def all_cancelled(do: Do) -> Verdict:
    """All are cancelled: the work ends or goes on, but a call made at that moment is served."""
    works = Works()
    asked = _ask(do, works, 3)
    await asyncio.sleep(WORK / 4)
    for task in asked:
        task.cancel()
    await asyncio.sleep(0)
    answers = await _answers(_ask(do, works, 1))
    return answers == ["value"], f"work {'cancelled' if works.cancelled else 'runs on'}, next: {_name(answers[0])}"


async def error(do: Do) -> Verdict:
    """The call fails: all hear of it from one call, and the next call runs anew."""
    broken, works = Works(fails=True), Works()
    answers = await _answers(_ask(do, broken))
    failed = sum(isinstance(answer, ValueError) for answer in answers)
    after = (await _answers(_ask(do, works, 1)))[0]
    right = failed == CALLERS and broken.calls == 1 and after == "value"
    return right, f"{failed}/{CALLERS} failed, {broken.calls} call{'s' * (broken.calls > 1)}, next: {_name(after)}"


async def unseen_error(do: Do) -> Verdict:
    """All have left when the call fails: asyncio must have nothing to complain of."""
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    asked = _ask(do, Works(fails=True), 3)
    await asyncio.sleep(WORK / 4)
    for task in asked:
        task.cancel()
    await asyncio.sleep(WORK * 2)
    del asked, task
    gc.collect()
    return not complaints, "silent" if not complaints else '"never retrieved"'


async def late_join(do: Do) -> Verdict:
    """A call after the end must run anew, even if it comes before the callbacks that tell of the end."""
    works, late = Works(), Works()
    joined: list[asyncio.Future[object]] = []

    async def ends() -> object:
        await works()
        asyncio.get_running_loop().call_soon(lambda: joined.append(asyncio.ensure_future(do("k", late))))
        return "value"

    await _answers(_ask(do, ends, 1))
    await _answers([asyncio.ensure_future(one) for one in joined])
    at_the_end = "anew" if late.calls else "old result"
    after = Works()
    await _answers(_ask(do, after, 1))
    later = "anew" if after.calls else "kept"
    return (at_the_end, later) == ("anew", "anew"), f"at the end: {at_the_end}, later: {later}"


async def callers_context(do: Do) -> Verdict:
    """The shared work must not see the variables of whoever came first."""
    seen: list[str] = []

    async def reads() -> object:
        seen.append(USER.get())
        await asyncio.sleep(WORK)
        return "value"

    USER.set("A")
    await _answers(_ask(do, reads, 2))
    return seen == ["nobody"], "not seen" if seen == ["nobody"] else "seen by the work"


async def own_key(do: Do) -> Verdict:
    """A factory that asks for its own key must be told, not hang."""

    async def asks() -> object:
        return await do("k", Works())

    answer = (await _answers(_ask(do, asks, 1)))[0]
    return answer != "hangs", _name(answer)


async def foreign_loop(do: Do) -> Verdict:
    """A call from another thread's loop while one is in flight: refused, or a call of its own; never a hang."""
    works, elsewhere = Works(seconds=PATIENCE / 3), Works()  # still at it when the other thread has come up

    async def caller() -> object:
        loop = asyncio.get_running_loop()
        asked_at = loop.time()
        answer = (await _answers(_ask(do, elsewhere, 1)))[0]
        return answer if loop.time() < asked_at + PATIENCE / 2 else "hangs until something else wakes its loop"

    here = _ask(do, works, 1)
    await asyncio.sleep(WORK / 4)
    there = await asyncio.to_thread(asyncio.run, caller())
    answers = await _answers(here)
    told = "refused" if isinstance(there, RuntimeError) else ("a call of its own" if elsewhere.calls else _name(there))
    at_home = "" if answers == ["value"] else f", at home: {_name(answers[0])}"
    return told in {"refused", "a call of its own"} and not at_home, told + at_home


QUESTIONS: dict[str, Question] = {
    "first cancelled": first_cancelled,
    "another cancelled": another_cancelled,
    "all cancelled": all_cancelled,
    "error": error,
    "error that nobody waits for": unseen_error,
    "late join": late_join,
    "first caller's context": callers_context,
    "asks for its own key": own_key,
    "foreign loop": foreign_loop,
}


def ask_peer(peer: Peer) -> dict[str, Verdict]:
    """The peer's verdict on every question."""

    async def ask(question: Question) -> Verdict:
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)  # what breaks is in the verdict
        return await question(peer.make())

    return {name: asyncio.run(ask(question)) for name, question in QUESTIONS.items()}
