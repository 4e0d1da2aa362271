"""Declared actions and kinds as an agent's tools: what makes two calls one, and the protocol's own client over it."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from onceward.cli.tools import ToolText, offered, use
from onceward.client import AsyncOnceward
from onceward.kinds.registered import KINDS
from tests.unit.client.live_api import TOKEN, LiveApi
from tests.unit.client.test_acting import an_operation

if TYPE_CHECKING:
    from mcp import ClientSession

pytestmark = pytest.mark.anyio

TOOLS = offered(KINDS)
TASK = {"source_ticket": "481", "title": "Check"}


def test_every_action_and_each_kind_that_says_what_it_is_about_is_a_tool() -> None:
    """A kind whose input is a model's own text is none: nothing would tell a repeat from a new wish."""
    assert {"create_task", "document_analyze"} <= set(TOOLS)
    assert "text_generate" not in TOOLS
    assert TOOLS["create_task"].schema["required"] == ["source_ticket", "title"]


def test_the_operation_is_named_by_the_declared_arguments_and_by_nothing_else() -> None:
    """Another title is the same intention (and then a conflict); another ticket is another one."""
    tool = TOOLS["create_task"]
    first, reworded, other = (
        tool.operation_id({**TASK, **more}) for more in ({}, {"title": "Check it"}, {"source_ticket": "482"})
    )

    assert first == reworded != other
    assert first.startswith("create_task:")


async def used(answer: httpx.Response, given: dict[str, Any] | None = None) -> tuple[ToolText, list[httpx.Request]]:
    """One tool call over a scripted API."""
    sent: list[httpx.Request] = []

    def reply(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return answer

    async with (
        httpx.AsyncClient(transport=httpx.MockTransport(reply)) as http,
        AsyncOnceward("http://api.test", "token", http_client=http, max_retries=0) as client,
    ):
        return await use(client, TOOLS["create_task"], given or TASK, run_id="run-1", timeout=5), sent


async def test_a_tool_acts_under_its_derived_id_and_tells_the_response() -> None:
    """The run is recorded; the model sees what the target answered."""
    told, sent = await used(httpx.Response(200, json=an_operation()))
    body = json.loads(sent[0].content)

    assert (body["operation_id"], body["run_id"]) == (TOOLS["create_task"].operation_id(TASK), "run-1")
    assert (json.loads(told.text)["response"], told.is_error) == ({"id": 7}, False)


async def test_what_goes_wrong_is_told_to_the_model() -> None:
    """A conflict by its code; arguments that are none without asking anybody."""
    conflict = {"code": "idempotency_key_reused", "title": "x", "status": 409, "type": "t"}
    told, _ = await used(httpx.Response(409, json=conflict))
    refused, sent = await used(httpx.Response(500), {"source_ticket": "481"})
    said = json.loads(refused.text)

    assert (json.loads(told.text)["code"], told.is_error) == ("idempotency_key_reused", True)
    assert (said["code"], refused.is_error, sent) == ("invalid_input", True, [])
    assert said["errors"] == [
        {"pointer": "/title", "detail": "Field required"}
    ]  # which one: a model has nothing else to go by


@asynccontextmanager
async def session_of(*arguments: str) -> AsyncIterator[ClientSession]:
    """The protocol's own client over the shim, which is a process; imported here, since that takes a second or two."""
    from mcp import ClientSession, StdioServerParameters, stdio_client  # noqa: PLC0415

    server = StdioServerParameters(command=sys.executable, args=["-m", "onceward.cli", *arguments])
    async with stdio_client(server) as (incoming, outgoing), ClientSession(incoming, outgoing) as session:
        await session.initialize()
        yield session


async def test_a_call_that_is_made_again_or_reworded_has_one_effect(live: LiveApi) -> None:
    """The protocol's own client, the shim as a process, the real API and worker: the model is told of the conflict."""
    async with session_of("--url", live.url, "--token", TOKEN, "mcp") as session:
        came = [
            await session.call_tool("create_task", {**TASK, **more}) for more in ({}, {}, {"title": "Another wording"})
        ]
    told = [json.loads(one.content[0].text) for one in came if one.content[0].type == "text"]

    assert [one.is_error for one in came] == [False, False, True]
    assert (told[0]["response"], told[1]) == ({"id": 1}, told[0])
    assert told[2]["code"] == "idempotency_key_reused"
    assert len(live.targets[0].effects) == 1


async def test_the_protocols_own_client_lists_and_calls_the_tools() -> None:
    """Over stdin and stdout, as an agent's host starts it; nobody is at the API's address, and that is told."""
    async with session_of("--url", "http://127.0.0.1:9", "--token", "t", "mcp", "--timeout", "1") as session:
        listed = await session.list_tools()
        unknown = await session.call_tool("no_such_tool", {})
        refused = await session.call_tool("create_task", {"source_ticket": ""})

    assert {tool.name for tool in listed.tools} == set(TOOLS)
    assert (unknown.is_error, refused.is_error) == (True, True)
