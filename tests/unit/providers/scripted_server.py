"""A real socket that reads one request and then does exactly what a test wants done to it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

type Respond = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass(slots=True)
class Seen:
    """What reached the server: its address, and each request's head and body."""

    url: str = ""
    heads: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    connections: int = 0
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)

    def header(self, name: str, request: int = 0) -> str | None:
        """A header of a request by its lower-case name."""
        for line in self.heads[request].split("\r\n")[1:]:
            key, _, value = line.partition(":")
            if key.lower() == name:
                return value.strip()
        return None


async def _serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, respond: Respond, seen: Seen) -> bool:
    """Read a request and respond, unless the client leaves first; whether the connection may go on."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    seen.heads.append(head)
    length = seen.header("content-length", len(seen.heads) - 1)
    seen.bodies.append(await reader.readexactly(int(length or 0)))
    seen.arrived.set()
    responding = asyncio.ensure_future(respond(writer))
    leaving = asyncio.ensure_future(_left(reader))
    await asyncio.wait((responding, leaving), return_when=asyncio.FIRST_COMPLETED)
    has_left = leaving.done()
    for task in (responding, leaving):
        task.cancel()
    await asyncio.gather(responding, leaving, return_exceptions=True)
    return not (has_left or writer.is_closing())


async def _left(reader: asyncio.StreamReader) -> None:
    """Wait until the client has closed its side; reads nothing, so that a next request stays whole."""
    while not reader.at_eof():  # noqa: ASYNC110 - a stream tells its end to readers only
        await asyncio.sleep(0.001)


@asynccontextmanager
async def serving(respond: Respond) -> AsyncIterator[Seen]:
    """Serve every request with ``respond``; a connection stays open for as long as its client wants it."""
    seen = Seen()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.connections += 1
        try:
            while await _serve_one(reader, writer, respond, seen):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            seen.left.set()
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    seen.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield seen
    finally:
        server.close()
        server.abort_clients()
        await server.wait_closed()


def answering(status: int, body: object, headers: dict[str, str] | None = None, *, cut: int = 0) -> Respond:
    """Answer with a JSON body (text stays as it is); ``cut``: so many bytes of it are announced and never sent."""
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} Whatever", f"content-length: {len(raw)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]

    async def respond(writer: asyncio.StreamWriter) -> None:
        writer.write("\r\n".join([*lines, "", ""]).encode() + raw[: len(raw) - cut])
        await writer.drain()
        if cut:
            writer.close()

    return respond


async def silence(_: asyncio.StreamWriter) -> None:
    """Never answer."""
    await asyncio.Event().wait()


async def hang_up(writer: asyncio.StreamWriter) -> None:
    """Close without a word."""
    writer.close()


async def reset(writer: asyncio.StreamWriter) -> None:
    """End the connection by RST."""
    writer.transport.abort()


def completion(content: str | None = "Fine.", **message: object) -> dict[str, object]:
    """A success as OpenAI sends it; keywords go into the message, ``finish_reason`` and ``usage`` where they belong."""
    finish = message.pop("finish_reason", "stop")
    usage = message.pop("usage", {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17})
    made: dict[str, object] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "gpt-4o-mini-2024-07-18",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
        ],
    }
    return made if usage is None else {**made, "usage": usage}


def error(code: object, type_: object = "invalid_request_error", message: str = "Secret words.") -> dict[str, object]:
    """An error body as OpenAI sends it."""
    return {"error": {"message": message, "type": type_, "param": None, "code": code}}
