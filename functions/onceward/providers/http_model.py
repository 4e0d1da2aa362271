"""What models behind HTTP have in common: one address, one key, one price table, one request at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx

from onceward.domain.names import DownstreamKey
from onceward.domain.policy import Capability
from onceward.domain.records import Usage
from onceward.domain.recovery import LookupReply
from onceward.domain.states import ProviderCancel
from onceward.errors import CallFailure, InfrastructureError
from onceward.providers.credential import Secret, header_key
from onceward.providers.http import HttpReply, check_address, exchange
from onceward.providers.priced_model import PricedModel
from onceward.providers.prices import PRICES, Price
from onceward.providers.reading import an_object
from onceward.providers.time_left import TimeLeft
from onceward.usecases.ports import Clock, ModelReply, ModelRequest, Submitted

LISTED = timedelta(minutes=1)  # a batch is listed as soon as it is made; this is for what nobody promises


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpModelTarget:
    """Where the model is, which one, and what its documentation promises; ``base_url`` ends before the API's paths."""

    base_url: str
    model: str
    name: str
    capability: Capability = field(default_factory=Capability)


class HttpModel[Target: HttpModelTarget](PricedModel[Target]):
    """One target, asked over HTTP. It repeats nothing: whether to ask again is decided from the journal."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        target: Target,
        secret: Secret,
        clock: Clock,
        prices: Mapping[str, Price] = PRICES,
    ) -> None:
        """``client`` belongs to the loop that calls; ``secret`` gives the key, empty where none is needed.

        Raises ``ValueError`` for an address that is none: at cold start, not in the middle of a job.
        """
        check_address(target.base_url)
        super().__init__(target, prices)
        self._client = client
        self._base = target.base_url.rstrip("/")
        self._secret = secret
        self._clock = clock

    @property
    def route(self) -> str:
        """The model, and the way to it."""
        return f"{self._target.name} {self._target.base_url} {self._target.model}"

    def headers(self, secret: str) -> dict[str, str]:
        """What each request carries: the key, if there is one, where most APIs look for it."""
        return {"authorization": f"Bearer {secret}"} if secret else {}

    async def lookup(self, key: DownstreamKey, timeout: timedelta) -> ModelReply | LookupReply | Submitted:  # noqa: ARG002
        """Nothing can be learnt by a key of ours, unless a target documents it."""
        return LookupReply.UNREACHABLE

    async def request(
        self, method: str, place: str, time: TimeLeft, body: bytes | None = None, key: DownstreamKey | None = None
    ) -> HttpReply:
        """One request; raises ``CallFailure``, and ``SecretUnavailable`` before anything is sent.

        ``key``: sent along for whoever dedupes by it.
        """
        headers = self.headers(await header_key(self._secret, time))
        if body is not None:
            headers["content-type"] = "application/json"
        if key is not None:
            headers["idempotency-key"] = key
        asked = self._client.build_request(method, f"{self._base}/{place}", headers=headers, content=body)
        return await exchange(self._client, asked, time.for_request())

    async def upload(self, place: str, fields: Mapping[str, str], content: bytes, time: TimeLeft) -> HttpReply:
        """Send a file of lines as a form does; raises as ``request``."""
        headers = self.headers(await header_key(self._secret, time))
        file = {"file": ("request.jsonl", content, "application/jsonl")}
        asked = self._client.build_request("POST", f"{self._base}/{place}", headers=headers, data=fields, files=file)
        return await exchange(self._client, asked, time.for_request())

    async def delete(self, place: str, time: TimeLeft) -> None:
        """Delete what is kept there; what cannot be deleted now stays for as long as the provider keeps it."""
        with suppress(CallFailure, InfrastructureError):
            await self.request("DELETE", place, time)

    async def stop_at(
        self, place: str, timeout: timedelta, has_stopped: Callable[[Mapping[str, Any]], bool]
    ) -> ProviderCancel:
        """Ask to end what is under way there; confirmed only where the answer itself says that it has stopped."""
        try:
            reply = await self.request("POST", f"{place}/cancel", TimeLeft(self._clock, timeout), b"")
        except CallFailure:
            return ProviderCancel.REQUESTED
        return ProviderCancel.CONFIRMED if has_stopped(reply.json_object() or {}) else ProviderCancel.REQUESTED

    async def question(self, method: str, place: str, time: TimeLeft) -> HttpReply | None:
        """One request that buys nothing; ``None``: no answer, which says nothing.

        Raises ``CallFailure`` for an answer that is charged and cannot be read.
        """
        try:
            return await self.request(method, place, time)
        except CallFailure as failure:
            if failure.model is not None:
                raise
            return None


class HalfPrice(HttpModel[HttpModelTarget]):
    """A target whose batches cost half of what answers at once cost, by its provider's own tariff; rounded up."""

    def price(self, model: str, usage: Usage | None) -> int | None:
        """Half the micro-USD of a usage; ``None``: no price is known."""
        return _half(super().price(model, usage))

    def most(self, request: ModelRequest) -> int | None:
        """Half of what one call at once can cost at most; ``None``: no price is known."""
        return _half(super().most(request))


def _half(whole: int | None) -> int | None:
    """A half, rounded up."""
    return None if whole is None else -(-whole // 2)


def is_gone(reply: HttpReply) -> bool:
    """Whether the API itself says that it knows nothing under a name: a proxy's page or a wrong path does not."""
    return reply.status == httpx.codes.NOT_FOUND and bool(an_object((reply.json_object() or {}).get("error")))
