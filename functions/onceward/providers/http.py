"""One request on one connection: how the client is made, and what is known of a request that got no answer.

Only the worker imports this: httpx costs a cold start a tenth of a second. One client belongs to one event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Container, Mapping
from dataclasses import dataclass
from datetime import timedelta

import httpx

from onceward.domain.records import ANSWER_LIMIT
from onceward.domain.retry import ErrorClass
from onceward.errors import CallFailure
from onceward.providers.reading import read_object

CONNECT = timedelta(seconds=5)  # two lost SYNs and their answers; whoever takes longer is down
WRITE = timedelta(seconds=30)  # of one piece of the request; a prompt of a megabyte on a bad line
POOL = timedelta(seconds=5)  # the worker's call slots bound the calls, so nobody waits here unless that is wrong
MAX_CONNECTIONS = 100  # above any sensible number of call slots
PLAIN = frozenset({"", "identity"})  # the content encodings that we take, and the only one that we ask for

NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol, httpx.ProxyError)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpReply:
    """An answer as it came: header names in lower case, the body not yet looked at."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json_object(self) -> dict[str, object] | None:
        """The body as a JSON object; ``None`` for anything else, an HTML page of a proxy included."""
        return read_object(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What counts as a success, how much of one is read, and whether one that is too large is taken without its body.

    ``whom`` stands before the codes of failures.
    """

    successes: Container[int] = frozenset({httpx.codes.OK})
    most_bytes: int = ANSWER_LIMIT
    may_drop_body: bool = False
    whom: str = "provider"


FROM_A_MODEL = Taken()


def make_client() -> httpx.AsyncClient:
    """A client without retries, redirects or a will of its own.

    No connection is used twice: when a server closes an idle one just as a request leaves, nobody can tell whether it
    was read, and a paid call would become a maybe. A handshake costs a fraction of what a model takes to answer.
    ``trust_env`` is off: proxies and certificates do not follow variables that the settings do not know.
    """
    return httpx.AsyncClient(
        limits=httpx.Limits(max_connections=MAX_CONNECTIONS, max_keepalive_connections=0),
        headers={"accept": "application/json", "accept-encoding": "identity", "user-agent": "onceward"},
        follow_redirects=False,
        trust_env=False,
    )


def check_address(base_url: str) -> None:
    """Refuse an address that is none, at cold start and not in the middle of a job; raises ``ValueError``."""
    address = httpx.URL(base_url)
    if address.scheme not in {"http", "https"} or not address.host:
        raise ValueError("the model's address must be http(s)://host...")


class _Wire:
    """What the transport tells while a request is under way: whether its first byte may have left, what came back.

    The client makes more of a refusal than its status (it reads the address of every redirect) and may fail at that.
    """

    def __init__(self, taken: Taken) -> None:
        self._taken = taken
        self.is_told = False
        self.has_begun = False
        self.refusal: HttpReply | None = None

    async def __call__(self, event: str, told: Mapping[str, object]) -> None:
        self.is_told = True
        self.has_begun = self.has_begun or event.endswith("send_request_headers.started")
        if event.endswith("receive_response_headers.complete") and isinstance(came := told.get("return_value"), tuple):
            _version, status, _reason, headers, *_ = came
            if status not in self._taken.successes:
                self.refusal = HttpReply(status=status, headers=_lower(httpx.Headers(headers)), body=b"")

    def failure(self, code: str, error: Exception) -> CallFailure:
        """Not connected is not sent; whatever else ended a request without an answer leaves a maybe."""
        is_unsent = isinstance(error, NOT_SENT) or (self.is_told and not self.has_begun)
        return CallFailure(
            type(error).__name__,
            code=f"{self._taken.whom}_unreachable" if is_unsent else code,
            error_class=ErrorClass.TRANSIENT if is_unsent else ErrorClass.OUTCOME_UNKNOWN,
            was_sent=not is_unsent,
        )


async def exchange(
    client: httpx.AsyncClient, request: httpx.Request, hard_timeout: timedelta, taken: Taken = FROM_A_MODEL
) -> HttpReply:
    """Send once and read the answer, all within ``hard_timeout``; raises ``CallFailure``.

    A refusal whose body breaks off is still that refusal: its status line is the answer. A success that breaks off
    is a maybe: the model ran, and what it said is lost. So is every other exception after the first byte.
    """
    total = hard_timeout.total_seconds()
    wire, response = _Wire(taken), None
    request.extensions["trace"] = wire
    request.extensions["timeout"] = httpx.Timeout(
        total,
        # Before the whole: cancelled in a handshake, httpx leaves it open.
        connect=min(total / 2, CONNECT.total_seconds()),
        write=min(total, WRITE.total_seconds()),
        pool=min(total, POOL.total_seconds()),
    ).as_dict()
    try:
        async with asyncio.timeout(total):
            response = await client.send(request, stream=True)
            return _reply(response, await _read(response, taken))
    except (TimeoutError, httpx.TimeoutException) as error:
        failure = wire.failure(f"{taken.whom}_timed_out", error)
    except CallFailure:
        raise
    except Exception as error:  # noqa: BLE001 - of any class, where an answer is broken enough
        failure = wire.failure("connection_lost", error)
    if response is not None and response.status_code not in taken.successes:
        return _reply(response, b"")
    if wire.refusal is not None:
        return wire.refusal
    raise failure from None


async def _read(response: httpx.Response, taken: Taken) -> bytes:
    """The body up to what is taken; the connection is closed in every case.

    Counted as it comes: a few packed kilobytes unpack to gigabytes. An encoded body, which nobody asked for, is none.
    """
    try:
        if response.headers.get("content-encoding", "").strip().lower() not in PLAIN:
            return b""
        body = bytearray()
        async for piece in response.aiter_raw():
            body += piece
            if len(body) > taken.most_bytes:
                break
        else:
            return bytes(body)
        if response.status_code in taken.successes and not taken.may_drop_body:
            raise CallFailure(
                f"more than {taken.most_bytes} bytes",
                code="answer_too_large",
                error_class=ErrorClass.INVALID_OUTPUT,
                was_sent=True,
                model="unread",  # it was charged, for what nobody has read: unpriced, and not free
            )
        return b""
    finally:
        await response.aclose()


def _reply(response: httpx.Response, body: bytes) -> HttpReply:
    """The answer in a shape that does not hold the request, and so no key."""
    return HttpReply(
        status=response.status_code,
        headers=_lower(response.headers),
        body=body,
    )


def _lower(headers: httpx.Headers) -> Mapping[str, str]:
    """Header names in lower case."""
    return {name.lower(): value for name, value in headers.items()}
