"""``onceward mcp``: declared actions and job kinds as tools of the Model Context Protocol, over stdin and stdout.

A shim: it holds no state and keeps no key. Whatever ends it, the next one asks for the same operations. Needs the extra
``onceward[mcp]``, which is imported when the command runs, and the code of the kinds.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Annotated, Any

import typer

from onceward import __version__
from onceward.cli.access import Flags, find_access
from onceward.cli.exits import exit_code
from onceward.cli.show import say
from onceward.cli.tools import Offered, ToolText, offered, use
from onceward.client import AsyncOnceward
from onceward.client.target import MAX_RETRIES, TIMEOUT
from onceward.errors import OncewardError

if TYPE_CHECKING:  # the protocol's package is imported when it is needed
    from mcp.server import Server

WAIT = 120.0  # seconds that a model's turn may take; what takes longer goes on, and is found by the same call


def mcp(
    context: typer.Context,
    *,
    run_id: Annotated[str | None, typer.Option(help="The agent's run, to list operations by; made if absent.")] = None,
    timeout: Annotated[float, typer.Option(min=1, metavar="SECONDS", help="Wait no longer for one tool.")] = WAIT,
) -> None:
    """Offer actions and kinds as MCP tools on stdio. An agent's host starts it."""
    flags: Flags = context.obj
    try:
        access = find_access(flags)
        client = AsyncOnceward(access.url, access.token, max_retries=MAX_RETRIES, timeout=TIMEOUT)
    except OncewardError as error:
        say(f"onceward: {error}")
        raise typer.Exit(exit_code(error)) from None
    asyncio.run(_serve(client, run_id or f"mcp-{secrets.token_hex(8)}", timeout))


async def _serve(client: AsyncOnceward, run_id: str, timeout: float) -> None:
    """Answer until stdin ends."""
    from mcp.server.stdio import stdio_server  # noqa: PLC0415

    from onceward.kinds.registered import KINDS  # noqa: PLC0415

    server = server_of(client, offered(KINDS), run_id, timeout)
    async with client, stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def server_of(client: AsyncOnceward, tools: dict[str, Offered], run_id: str, timeout: float) -> Server[Any]:
    """The protocol's server over these tools."""
    import mcp_types as types  # noqa: PLC0415
    from mcp.server import Server  # noqa: PLC0415

    async def list_tools(_context: object, _params: object) -> types.ListToolsResult:
        told = ((one.name, one.description, one.schema) for one in tools.values())
        return types.ListToolsResult(
            tools=[types.Tool(name=name, description=text, input_schema=schema) for name, text, schema in told]
        )

    async def call_tool(_context: object, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = tools.get(params.name)
        came = (
            ToolText(text="no such tool", is_error=True)
            if tool is None
            else await use(client, tool, params.arguments or {}, run_id=run_id, timeout=timeout)
        )
        content: list[types.ContentBlock] = [types.TextContent(type="text", text=came.text)]
        return types.CallToolResult(content=content, is_error=came.is_error)

    return Server("onceward", version=__version__, on_list_tools=list_tools, on_call_tool=call_tool)
