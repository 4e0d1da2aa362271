"""A declared HTTP target over httpx: fill the request in, go to a checked address, read the answer.

It repeats nothing but a read: whether to send again is decided from the journal. What is logged or raised holds neither
an argument nor the credential.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

import httpx
from pydantic import JsonValue

from onceward.domain.endpoint import (
    PLACEHOLDER,
    Endpoint,
    IdempotencyHeader,
    Lookup,
    NaturalKey,
    filled,
    host_of,
    lookup_address,
    spelt,
)
from onceward.domain.names import DownstreamKey
from onceward.domain.policy import Capability
from onceward.domain.records import Usage
from onceward.domain.recovery import LookupReply
from onceward.domain.retry import ErrorClass
from onceward.errors import CallFailure, TooDeep
from onceward.providers.credential import Secret, header_key
from onceward.providers.http import HttpReply, Taken, exchange
from onceward.providers.safe_address import Resolve, find_place, resolve
from onceward.providers.target_meaning import CONFLICT, SUCCESSES, failure_of, says_absent, tells_of
from onceward.providers.time_left import TimeLeft
from onceward.usecases.ports import Clock, ModelReply
from onceward.wire.ijson import check_depth

MOST_BYTES = 256 * 1024  # of an answer's body; a larger one is left out, what it answers has happened all the same
TAKEN = Taken(successes=SUCCESSES, most_bytes=MOST_BYTES, may_drop_body=True, whom="target")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Where a stage's targets are: ``origins`` puts another origin in a host's place; ``is_local``: on this machine.

    Outside local stages a target is reached by https, at a public address, at a host that its declaration allows.
    """

    origins: Mapping[str, str] = field(default_factory=dict)
    is_local: bool = False
    resolve: Resolve = resolve


class HttpEndpoint:
    """The ``HttpTarget`` of one declaration."""

    def __init__(
        self, client: httpx.AsyncClient, endpoint: Endpoint, secret: Secret, clock: Clock, reach: Reach
    ) -> None:
        """``client`` belongs to the loop that calls; ``secret`` gives the credential, empty where none is needed."""
        self._client = client
        self._endpoint = endpoint
        self._secret = secret
        self._clock = clock
        self._reach = reach

    @property
    def name(self) -> str:
        """The declaration's."""
        return self._endpoint.name

    @property
    def route(self) -> str:
        """The declaration's, at the origins that this stage puts in its hosts' places."""
        there = (self._reach.origins.get(host_of(one), "") for one in self._endpoint.addresses)
        return " ".join((self._endpoint.route, *there))

    @property
    def capability(self) -> Capability:
        """What the target promises about repeats."""
        return self._endpoint.capability

    def price(self, model: str, usage: Usage | None) -> int | None:  # noqa: ARG002 - the port's signature
        """A target sends no bill that we know of."""
        return 0

    async def send(self, arguments: Mapping[str, JsonValue], key: DownstreamKey, timeout: timedelta) -> ModelReply:
        """Send once; where a conflict means that it is done already, read back what is there.

        Raises ``CallFailure``, and ``SecretUnavailable`` before anything is sent.
        """
        time, declared = TimeLeft(self._clock, timeout), self._endpoint
        headers = await self._credential(time)
        if isinstance(declared.dedupe, IdempotencyHeader):
            headers[declared.dedupe.header] = key
        own: dict[str, JsonValue] = {declared.dedupe.id_field: key} if isinstance(declared.dedupe, Lookup) else {}
        try:
            address, rest = self._address(declared.url, arguments), _rest(declared, arguments)
            promise = declared.dedupe
            there = self._address(promise.read_back, arguments) if isinstance(promise, NaturalKey) else None
            request = await self._request(declared.method, address, headers, {**rest, **own}, time)
        except (ValueError, httpx.InvalidURL):  # half a surrogate pair, an argument that is not there or no segment
            raise _forbidden("target_request_invalid") from None
        reply = await exchange(self._client, request, time.for_request(), TAKEN)
        if reply.status in SUCCESSES:
            return _answer(reply, self.name)
        if there is not None and reply.status == CONFLICT:
            return await self._read_back(there, headers, time, reply, _named(declared, arguments))
        raise failure_of(reply, self._clock.now())

    async def lookup(self, key: DownstreamKey, timeout: timedelta) -> ModelReply | LookupReply:
        """What was made under a key of ours; "not found" is taken only from an answer that says so.

        "Found" only from one that has the key in its field: a search that finds nothing is a success too.
        """
        dedupe, time = self._endpoint.dedupe, TimeLeft(self._clock, timeout)
        if not isinstance(dedupe, Lookup):
            return LookupReply.UNREACHABLE
        try:
            address = self._moved(lookup_address(dedupe, key))
            request = await self._request("GET", address, await self._credential(time), {}, time)
            reply = await exchange(self._client, request, time.for_request(), TAKEN)
        except CallFailure:
            return LookupReply.UNREACHABLE
        if reply.status in SUCCESSES:
            return _answer(reply, self.name) if tells_of(reply, [key], dedupe.id_field) else LookupReply.UNREACHABLE
        return LookupReply.NOT_FOUND if says_absent(reply, dedupe.absent_code) else LookupReply.UNREACHABLE

    async def _read_back(
        self,
        there: httpx.URL,
        headers: Mapping[str, str],
        time: TimeLeft,
        conflict: HttpReply,
        names: Collection[JsonValue],
    ) -> ModelReply:
        """The object that is there already; a conflict about anything else is one.

        Whether it is there is unknown if it cannot be read, or if what is read has none of the ``names`` that it was
        asked by: then the request may be sent again, and conflicts again.
        """
        try:
            request = await self._request("GET", there, headers, {}, time)
            reply = await exchange(self._client, request, time.for_request(), TAKEN)
        except CallFailure as failure:
            raise _unread(failure.code) from None
        if reply.status in SUCCESSES:
            if not tells_of(reply, names):
                raise _unread("target_told_of_another")
            return _answer(reply, self.name)
        if says_absent(reply, None):
            raise failure_of(conflict, self._clock.now())
        raise _unread(failure_of(reply, self._clock.now()).code)

    async def _request(
        self,
        method: str,
        address: httpx.URL,
        headers: Mapping[str, str],
        given: Mapping[str, JsonValue],
        time: TimeLeft,
    ) -> httpx.Request:
        """One request to a checked address: the host's number in the URL, its name in TLS and in ``Host``."""
        self._check(address)
        port = address.port or (443 if address.scheme == "https" else 80)
        place = await find_place(
            address.host, port, _in_time(self._reach.resolve, time), may_be_loopback=self._reach.is_local
        )
        told = {**headers, "host": address.netloc.decode("ascii")}
        extensions = {"sni_hostname": address.host} if address.scheme == "https" else {}
        content = params = None
        if self._endpoint.has_body and method != "GET":
            content, told["content-type"] = json.dumps(given).encode("ascii"), "application/json"
        elif given:
            params = {name: spelt(value) for name, value in given.items() if value is not None}
        pinned = address.copy_with(host=place.host.strip("[]"))
        if params is not None:  # what the declaration says in its own query is not for an argument to change
            pinned = pinned.copy_with(params=httpx.QueryParams(params).merge(pinned.params))
        return self._client.build_request(method, pinned, headers=told, content=content, extensions=extensions)

    def _check(self, address: httpx.URL) -> None:
        """Refuse a place that the declaration does not allow; raises ``CallFailure`` (nothing was sent)."""
        is_here = self._reach.is_local and host_of(str(address)) in {"127.0.0.1", "localhost"}
        is_safe = address.scheme == "https" or self._reach.is_local
        if is_safe and (is_here or address.host in self._endpoint.allowed_hosts) and not address.userinfo:
            return
        raise _forbidden("target_address_forbidden")

    def _address(self, template: str, arguments: Mapping[str, JsonValue]) -> httpx.URL:
        """A declared address with its arguments, at this stage's place."""
        return self._moved(filled(template, arguments))

    def _moved(self, address: str) -> httpx.URL:
        """The address with the stage's own origin, where it has one for the host."""
        declared = httpx.URL(address)
        origin = self._reach.origins.get(declared.host)
        if origin is None:
            return declared
        there = httpx.URL(origin)
        return declared.copy_with(scheme=there.scheme, host=there.host, port=there.port)

    async def _credential(self, time: TimeLeft) -> dict[str, str]:
        """The credential's header, if there is one."""
        auth = self._endpoint.auth
        key = "" if auth is None else await header_key(self._secret, time)
        return {} if auth is None or not key else {auth.header: f"{auth.scheme} {key}".strip()}


def _rest(endpoint: Endpoint, arguments: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The arguments that the address does not carry."""
    in_address = set(PLACEHOLDER.findall(endpoint.url))
    return {name: value for name, value in arguments.items() if name not in in_address}


def _named(endpoint: Endpoint, arguments: Mapping[str, JsonValue]) -> list[JsonValue]:
    """The arguments by which what is there already is asked for."""
    asked = endpoint.dedupe.read_back if isinstance(endpoint.dedupe, NaturalKey) else ""
    return [arguments[name] for name in PLACEHOLDER.findall(asked)]


def _answer(reply: HttpReply, name: str) -> ModelReply:
    """A success as the call protocol keeps it; a body that is no JSON, or none that everybody reads, is left out.

    Whoever reads the answer later has a limit of depth of its own: what lies beyond it would fail a thing that is done.
    """
    try:
        check_depth(reply.body.decode())
        body = json.loads(reply.body) if reply.body else None
        text = json.dumps({"status": reply.status, "body": body}, ensure_ascii=False, allow_nan=False)
    except (ValueError, TooDeep):
        text = json.dumps({"status": reply.status, "body": None})
    return ModelReply(text=text, finish="stop", model=name, usage=Usage())


def _forbidden(code: str) -> CallFailure:
    """Not sent, and never to be."""
    return CallFailure("the request may not be sent", code=code, error_class=ErrorClass.PERMANENT, was_sent=False)


def _unread(code: str) -> CallFailure:
    """It is there, or not, and could not be read."""
    return CallFailure(
        "what is there could not be read", code=code, error_class=ErrorClass.OUTCOME_UNKNOWN, was_sent=True
    )


def _in_time(find: Resolve, time: TimeLeft) -> Resolve:
    """A resolver that is given no longer than the call has left."""

    async def bounded(host: str, port: int) -> list[str]:
        async with asyncio.timeout(max(time.left().total_seconds(), 0.001)):
            return list(await find(host, port))

    return bounded
