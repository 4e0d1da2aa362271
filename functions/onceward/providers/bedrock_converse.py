"""A model behind Bedrock's Converse, by boto3 with its own retries off.

boto3 blocks, so a call runs in a thread of the invocation. Its caller leaves at the hard timeout or at a cancel, with a
maybe in the books; the thread ends at the read timeout, at the latest as long after, and the invocation waits for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from onceward.domain.names import DownstreamKey
from onceward.domain.policy import Capability
from onceward.domain.recovery import LookupReply
from onceward.errors import CallFailure
from onceward.providers.at_once import AnswersAtOnce
from onceward.providers.converse_answer import read_answer
from onceward.providers.converse_errors import failure_of, transport_failure
from onceward.providers.converse_request import arguments_of
from onceward.providers.meaning import TIMED_OUT, UNMAPPED, Meaning
from onceward.providers.priced_model import PricedModel
from onceward.providers.prices import PRICES, Price
from onceward.providers.time_left import TimeLeft
from onceward.usecases.ports import Clock, ModelReply, ModelRequest

if TYPE_CHECKING:  # stubs exist for the checker only
    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient

CONNECT = timedelta(seconds=5)  # two lost SYNs and their answers; whoever takes longer is down
MOST_CONNECTIONS = 50  # above any sensible number of call slots; boto3 makes those wait that find none


class Threads(Protocol):
    """Somewhere to block; whoever owns the invocation owns its threads and ends them."""

    async def call[Result](self, blocking: Callable[..., Result], /, **arguments: object) -> Result:
        """Run it in a thread and wait. A cancelled caller leaves at once; the call itself goes on to its end."""
        ...


def config_for(timeout: timedelta) -> Config:
    """One request and no second one: boto3's default sends a slow Converse three times, and each is paid."""
    return Config(
        connect_timeout=CONNECT.total_seconds(),
        read_timeout=timeout.total_seconds(),
        retries={"mode": "standard", "total_max_attempts": 1},
        max_pool_connections=MOST_CONNECTIONS,
        tcp_keepalive=True,  # a NAT forgets a silent connection after 350 s
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConverseTarget:
    """Which model; Converse promises nothing about repeats and finds nothing by key."""

    model: str
    name: str = "bedrock"
    capability: Capability = field(default_factory=Capability)


class BedrockConverse(AnswersAtOnce, PricedModel[ConverseTarget]):
    """The ``Provider`` of one model. It repeats nothing: whether to ask again is decided from the journal."""

    def __init__(
        self,
        make_client: Callable[[Config], BedrockRuntimeClient],
        target: ConverseTarget,
        threads: Threads,
        clock: Clock,
        prices: Mapping[str, Price] = PRICES,
    ) -> None:
        """``make_client`` is called once for each hard timeout that kinds have: boto3 knows no timeout of a call."""
        super().__init__(target, prices)
        self._make_client = make_client
        self._clients: dict[timedelta, BedrockRuntimeClient] = {}
        self._threads = threads
        self._clock = clock

    @property
    def route(self) -> str:
        """The model, and the way to it."""
        return f"{self._target.name} {self._target.model}"

    async def generate(self, request: ModelRequest, key: DownstreamKey, timeout: timedelta) -> ModelReply:
        """Ask once; ``key`` goes into the invocation log. Raises ``CallFailure``."""
        time = TimeLeft(self._clock, timeout)
        client = self._client(timeout)

        def converse(**arguments: Any) -> Any:
            """Look at the clock once more, in the thread: a call may have queued for one until its caller left."""
            time.for_request()
            return client.converse(**arguments)

        try:
            async with asyncio.timeout(time.for_request().total_seconds()):
                answer: Any = await self._threads.call(converse, **arguments_of(request, self._target.model, key))
        except CallFailure as unsent:
            failure = unsent
        except ClientError as error:
            failure = failure_of(error, self._clock.now())
        except BotoCoreError as error:
            failure = transport_failure(error)
        except TimeoutError:
            failure = _maybe(TIMED_OUT)
        except Exception:  # noqa: BLE001 - botocore's parser raises anything for a body of another shape
            failure = _maybe(UNMAPPED)
        else:
            return read_answer(answer, self._target.model)
        raise failure  # outside the handler: botocore's error quotes the service's message

    async def lookup(self, key: DownstreamKey, timeout: timedelta) -> LookupReply:  # noqa: ARG002 - the port's signature
        """Nothing can be learnt here; a person finds the key in the invocation log."""
        return LookupReply.UNREACHABLE

    def _client(self, timeout: timedelta) -> BedrockRuntimeClient:
        """The client whose read timeout is this call's."""
        if timeout not in self._clients:
            self._clients[timeout] = self._make_client(config_for(timeout))
        return self._clients[timeout]


def _maybe(meaning: Meaning) -> CallFailure:
    """A call that was sent, and of which no more is known."""
    return CallFailure("no readable answer", code=meaning.code, error_class=meaning.error_class, was_sent=True)
