"""Ask, and look up, at a scripted server: what came back, and what the server saw."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

import boto3
import httpx
from botocore.config import Config

from onceward.adapters.system import ThreadRunner
from onceward.domain.names import DownstreamKey
from onceward.domain.recovery import LookupReply
from onceward.errors import CallFailure
from onceward.providers.anthropic_messages import AnthropicMessages, MessagesTarget
from onceward.providers.bedrock_converse import BedrockConverse, ConverseTarget
from onceward.providers.http import make_client
from onceward.providers.openai_chat import ChatTarget, OpenAIChat
from onceward.usecases.ports import ModelReply, ModelRequest, Provider
from tests.unit.providers.scripted_server import Respond, Seen, serving

if TYPE_CHECKING:
    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient

type Dialect = Literal["openai", "anthropic", "bedrock"]

KEY = DownstreamKey("JOB-1-generate_1")
SECRET = "sk-very-secret"
REQUEST = ModelRequest(messages=(("user", "How are you?"),), max_output_tokens=50)
SOON = timedelta(seconds=0.2)  # a hard timeout that a test waits out
ENOUGH = timedelta(seconds=20)


class FixedClock:
    """A clock that stands still."""

    def now(self) -> datetime:
        """Always the same instant."""
        return datetime(2026, 11, 30, tzinfo=UTC)

    def monotonic(self) -> float:
        """Always zero."""
        return 0.0

    async def sleep(self, duration: timedelta) -> None:
        """Not at all."""


async def secret() -> str:
    """The key as a secret store gives it, line end included."""
    return f"{SECRET}\n"


def provider_at(
    url: str, client: httpx.AsyncClient, key: Callable[[], Awaitable[str]] = secret, model: str = "gpt-4o-mini"
) -> OpenAIChat:
    """A provider of that address."""
    return OpenAIChat(client, ChatTarget(base_url=url, model=model), key, FixedClock())


@asynccontextmanager
async def speaking(
    dialect: Dialect, url: str, key: Callable[[], Awaitable[str]] = secret, *, model: str | None = None
) -> AsyncIterator[Provider]:
    """A provider that speaks a dialect to that address; ``model`` if the server there knows only its own."""
    if dialect == "bedrock":
        with ThreadRunner() as threads:
            target = ConverseTarget(model=model or "anthropic.claude-x")
            yield BedrockConverse(lambda config: bedrock_client(url, config), target, threads, FixedClock())
        return
    async with make_client() as client:
        if dialect == "openai":
            yield provider_at(url, client, key, model or "gpt-4o-mini")
        else:
            target_of_messages = MessagesTarget(base_url=url, model=model or "claude-haiku-4-5")
            yield AnthropicMessages(client, target_of_messages, key, FixedClock())


def bedrock_client(url: str, config: Config) -> BedrockRuntimeClient:
    """A boto3 client of that address, with keys that open nothing."""
    return boto3.client(
        "bedrock-runtime",
        endpoint_url=url,
        config=config,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key=SECRET,
    )


def ask(
    respond: Respond, timeout: timedelta = ENOUGH, dialect: Dialect = "openai", request: ModelRequest = REQUEST
) -> tuple[ModelReply | CallFailure, Seen]:
    """Ask a server that does ``respond``: the reply or the failure, and what the server saw."""

    async def run() -> tuple[ModelReply | CallFailure, Seen]:
        async with serving(respond) as seen, speaking(dialect, seen.url) as provider:
            try:
                reply = await provider.generate(request, KEY, timeout)
                assert isinstance(reply, ModelReply)
                return reply, seen
            except CallFailure as failure:
                return failure, seen

    return asyncio.run(run())


def look(respond: Respond, timeout: timedelta = ENOUGH) -> tuple[ModelReply | LookupReply | CallFailure, Seen]:
    """Look a key up at a server that does ``respond``."""

    async def run() -> tuple[ModelReply | LookupReply | CallFailure, Seen]:
        async with serving(respond) as seen, make_client() as client:
            try:
                return await provider_at(seen.url, client).lookup(KEY, timeout), seen
            except CallFailure as failure:
                return failure, seen

    return asyncio.run(run())
