"""A provider's key on its way into a header."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from onceward.errors import CallFailure, SecretUnavailable
from onceward.providers.meaning import AUTH
from onceward.providers.time_left import TimeLeft

type Secret = Callable[[], Awaitable[str]]


async def header_key(secret: Secret, time: TimeLeft) -> str:
    """The key, empty where none is needed. One that no header can carry is found here, not by a half-sent request.

    Reading it counts as the call's own time. Raises ``SecretUnavailable``, also when that is used up.
    """
    try:
        async with asyncio.timeout(time.left().total_seconds()):
            key = (await secret()).strip()
    except TimeoutError:
        raise SecretUnavailable("it took the whole time of the call") from None
    if key and not (key.isascii() and key.isprintable()):
        raise CallFailure(
            "the key is not printable ASCII", code=AUTH.code, error_class=AUTH.error_class, was_sent=False
        )
    return key
