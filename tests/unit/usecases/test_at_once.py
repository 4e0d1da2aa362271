"""Several stories at once: all have ended when the first error is raised (invariant 17)."""

from __future__ import annotations

import ast
import asyncio
from pathlib import Path

import pytest

import onceward
from onceward.usecases.at_once import at_once

ENGINE = Path(onceward.__file__).parent
# Kinds are customers' code: whatever they leave behind, ``run_kind`` ends.
FOLDERS = ("usecases", "handlers", "adapters", "providers")


@pytest.mark.invariant(17)
def test_an_error_is_raised_once_the_others_have_ended() -> None:
    """Not at once, as ``asyncio.gather`` does, and the others are not cancelled."""

    async def main() -> None:
        seen: list[str] = []
        gate = asyncio.Event()

        async def fails() -> None:
            gate.set()
            raise LookupError("first")

        async def writes() -> None:
            await gate.wait()
            await asyncio.sleep(0)
            seen.append("written")

        with pytest.raises(LookupError, match="first"):
            await at_once(writes(), fails())

        assert seen == ["written"]

    asyncio.run(main())


def test_answers_come_in_the_stories_order() -> None:
    """Whoever ends first."""

    async def main() -> None:
        async def after(turns: int) -> int:
            for _ in range(turns):
                await asyncio.sleep(0)
            return turns

        assert await at_once(*(after(turns) for turns in (3, 1, 2, 0))) == (3, 1, 2, 0)

    asyncio.run(main())


def test_a_cancelled_caller_takes_its_stories_along() -> None:
    """Nothing is left on the loop."""

    async def main() -> None:
        ended: list[bool] = []

        async def forever() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                ended.append(True)

        task = asyncio.create_task(at_once(forever(), forever()))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

        assert ended == [True, True]

    asyncio.run(main())


def test_the_engine_gathers_in_no_other_way() -> None:
    """A bare ``gather`` leaves the other legs running with the first error: each has to say that it waits for all."""
    bare = [
        f"{path.relative_to(ENGINE)}:{node.lineno}"
        for folder in FOLDERS
        for path in sorted((ENGINE / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "gather"
        and "return_exceptions" not in {keyword.arg for keyword in node.keywords}
    ]

    assert bare == []
