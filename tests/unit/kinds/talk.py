"""A context whose model is a provider at a real socket: what kinds ask goes out as it would from a worker."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta

from pydantic import BaseModel

from onceward.domain.names import DownstreamKey
from onceward.providers.http import make_client
from onceward.providers.openai_chat import ChatTarget, OpenAIChat
from onceward.usecases.ports import ModelReply, ModelRequest
from tests.support.model_server import ModelServer
from tests.unit.kinds.fake_context import FakeContext, FakeModel, Messages
from tests.unit.providers.asking import FixedClock

PATIENCE = timedelta(seconds=20)


@dataclass(slots=True)
class SocketModel(FakeModel):
    """Asks the model server, one request for each step, and keeps the steps."""

    provider: OpenAIChat | None = None
    steps: list[str] = field(default_factory=list)

    async def generate(
        self, step: str, messages: Messages, *, answer: type[BaseModel] | None = None, max_output_tokens: int = 4096
    ) -> ModelReply:
        """One call."""
        assert self.provider is not None
        self.steps.append(step)
        schema = None if answer is None else json.dumps(answer.model_json_schema())
        request = ModelRequest(messages=tuple(messages), max_output_tokens=max_output_tokens, json_schema=schema)
        return await self.provider.generate(request, DownstreamKey(f"JOB-1-{step}"), PATIENCE)


def talking[T](server: ModelServer, use: Callable[[FakeContext], Awaitable[T]]) -> tuple[T, list[str]]:
    """Run a kind's code against the server: what came of it, and the steps it asked."""

    async def no_key() -> str:
        return ""

    async def run() -> tuple[T, list[str]]:
        async with make_client() as client:
            target = ChatTarget(base_url=server.base_url, model="onceward-stand-in-1")
            provider = OpenAIChat(client, target, no_key, FixedClock())
            model = SocketModel(
                reply=lambda _: ModelReply(text="", finish="stop", model="", usage=None), provider=provider
            )
            return await use(FakeContext(model)), model.steps

    return asyncio.run(run())
