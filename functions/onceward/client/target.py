"""Whom to ask and as whom: from arguments, else from the environment; and how patiently."""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import httpx

from onceward.client.exceptions import Misconfigured

URL_VARIABLE = "ONCEWARD_URL"
TOKEN_VARIABLE = "ONCEWARD_TOKEN"  # noqa: S105 - the variable's name, not a token
MAX_RETRIES = 4  # with the backoff's 8 s at most, an outage of some seconds is not told to the caller
TIMEOUT = 30.0  # seconds without a byte; the gateway itself hangs up at 30

_URL = re.compile(r"https?://[^\s/?#]+(?:/[^\s?#]*)?")
_TOKEN = re.compile(r"[!-~]+")

type Token = str | Callable[[], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One API, one identity, one patience. Clocks and chance are here, so that the stories over it are pure."""

    base_url: str
    token: Token = field(repr=False)
    max_retries: int = MAX_RETRIES
    timeout: float = TIMEOUT
    monotonic: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    draw: Callable[[], float] = random.random

    def authorization(self) -> str:
        """The header, with the token of this moment; raises ``Misconfigured``.

        What is no token would be quoted by the HTTP library's own error, so it stops here.
        """
        token = self.token if isinstance(self.token, str) else self.token()
        if not _TOKEN.fullmatch(token):
            raise Misconfigured("the token is empty, or holds spaces or other characters that no token has")
        return f"Bearer {token}"


def find_target(base_url: str | None, token: Token | None, max_retries: int, timeout: float) -> Target:
    """The target by arguments, else by ``ONCEWARD_URL`` and ``ONCEWARD_TOKEN``; raises ``Misconfigured``."""
    url = os.environ.get(URL_VARIABLE, "") if base_url is None else base_url
    if not _is_address(url):
        raise Misconfigured(f"say where the API is: an http(s) address, as argument or in {URL_VARIABLE}")
    known = os.environ.get(TOKEN_VARIABLE, "") if token is None else token
    if not known:
        raise Misconfigured(f"say as whom to ask: an access token, as argument or in {TOKEN_VARIABLE}")
    if max_retries < 0 or timeout <= 0:
        raise Misconfigured("max_retries is 0 or more, and timeout is more than 0 seconds")
    target = Target(base_url=url.rstrip("/"), token=known, max_retries=max_retries, timeout=timeout)
    if isinstance(known, str):
        target.authorization()
    return target


def _is_address(url: str) -> bool:
    """Whether the HTTP library can use it; it would quote what it cannot."""
    try:
        return _URL.fullmatch(url) is not None and bool(httpx.URL(url).host)
    except httpx.InvalidURL:
        return False
