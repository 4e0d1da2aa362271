"""Ask providers that answer later, at the local model server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Literal

from onceward.domain.names import DownstreamKey
from onceward.domain.recovery import PollReply
from onceward.providers import anthropic_batches, openai_batches, openai_responses
from onceward.providers.anthropic_batches import AnthropicBatches
from onceward.providers.http import make_client
from onceward.providers.http_model import HttpModelTarget
from onceward.providers.openai_batches import OpenAIBatches
from onceward.providers.openai_responses import OpenAIResponses
from onceward.usecases.ports import ModelReply, ModelRequest, Provider, Submitted
from tests.unit.providers.asking import FixedClock

type Api = Literal["openai", "batch", "anthropic"]

MODEL = "onceward-stand-in-1"
REQUEST = ModelRequest(messages=(("system", "Be brief."), ("user", "Say something.")), max_output_tokens=50)
KEY = DownstreamKey("JOB-1-generate_1")
ENOUGH = timedelta(seconds=20)
APIS: tuple[Api, ...] = ("openai", "batch", "anthropic")
BATCHES: tuple[Api, ...] = ("batch", "anthropic")


async def no_key() -> str:
    """None is needed."""
    return ""


@asynccontextmanager
async def provider_of(api: Api, url: str, model: str = MODEL) -> AsyncIterator[Provider]:
    """A provider of that address that answers later."""
    async with make_client() as client:
        match api:
            case "openai":
                target = HttpModelTarget(
                    base_url=url, model=model, capability=openai_responses.CAPABILITY, name="openai"
                )
                yield OpenAIResponses(client, target, no_key, FixedClock())
            case "batch":
                target = HttpModelTarget(base_url=url, model=model, capability=openai_batches.CAPABILITY, name="openai")
                yield OpenAIBatches(client, target, no_key, FixedClock())
            case _:
                target = HttpModelTarget(
                    base_url=url, model=model, capability=anthropic_batches.CAPABILITY, name="anthropic"
                )
                yield AnthropicBatches(client, target, no_key, FixedClock())


def using[T](api: Api, url: str, use: Callable[[Provider], Awaitable[T]], model: str = MODEL) -> T:
    """Run ``use`` with a provider that answers later."""

    async def run() -> T:
        async with provider_of(api, url, model) as provider:
            return await use(provider)

    return asyncio.run(run())


async def submit(provider: Provider) -> str:
    """Submit the request; its reference."""
    taken = await provider.generate(REQUEST, KEY, ENOUGH)
    assert isinstance(taken, Submitted)
    return taken.reference


async def settled[T](ask: Callable[[], Awaitable[T]], until: Callable[[T], bool]) -> T:
    """Ask until the answer says that the work is over."""
    while True:
        answer = await ask()
        if until(answer):
            return answer
        await asyncio.sleep(0.02)


async def ended(provider: Provider, reference: str) -> ModelReply | PollReply:
    """Poll until the work is over."""
    return await settled(lambda: provider.poll(reference, KEY, ENOUGH), lambda answer: answer is not PollReply.PENDING)
