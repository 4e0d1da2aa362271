"""Run several stories at once and leave none behind: ``asyncio.gather`` alone goes on with the first error.

The others would then outlive their invocation, and send or write while the environment is frozen (invariant 17). They
are not cancelled either: a write under way cannot be called back, and its answer says what became of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, overload


@overload
async def at_once[A, B, C](
    first: Awaitable[A], second: Awaitable[B], third: Awaitable[C], /
) -> tuple[A, B, C]: ...  # of three kinds


@overload
async def at_once[Reply](*stories: Awaitable[Reply]) -> tuple[Reply, ...]: ...


async def at_once(*stories: Awaitable[Any]) -> tuple[Any, ...]:
    """What all of them come to, in their order. Raises the first error in that order, once every one has ended."""
    ends = await asyncio.gather(*stories, return_exceptions=True)
    for end in ends:
        if isinstance(end, BaseException):
            raise end
    return tuple(ends)
