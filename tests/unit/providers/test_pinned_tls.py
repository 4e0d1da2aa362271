"""A target is reached by the number of a judged address, and TLS still proves the name that was declared."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from onceward.domain.endpoint import Endpoint, Nothing
from onceward.errors import CallFailure
from onceward.providers.http_endpoint import HttpEndpoint, Reach
from onceward.usecases.ports import ModelReply
from tests.unit.providers.asking import ENOUGH, KEY, FixedClock, secret

pytestmark = pytest.mark.anyio

NAME = "tracker.example"


def certificate(folder: Path, name: str) -> Path:
    """A key and a certificate of its own for a name, in one file."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    who = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    made = (
        x509.CertificateBuilder(who, who, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = folder / f"{name}.pem"
    file.write_bytes(plain + made.public_bytes(serialization.Encoding.PEM))
    return file


@asynccontextmanager
async def serving(file: Path, asked: list[str]) -> AsyncIterator[int]:
    """A server with this certificate; ``asked``: the name that each client wanted proof of. Its port."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(file)
    context.sni_callback = lambda _socket, name, _context: asked.append(name or "")

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\n{}")
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        server.abort_clients()
        await server.wait_closed()


async def sent(folder: Path, presented: str) -> tuple[ModelReply | CallFailure, list[str]]:
    """One request to the name, at an address where somebody presents a certificate that is trusted for another name."""
    file, asked = certificate(folder, presented), list[str]()
    trusted = ssl.create_default_context(cafile=str(file))

    async def here(host: str, port: int) -> Sequence[str]:
        assert host == NAME
        return ["127.0.0.1"]

    async with serving(file, asked) as port, httpx.AsyncClient(verify=trusted, trust_env=False) as client:
        endpoint = Endpoint(
            name="create_task",
            method="POST",
            url=f"https://{NAME}:{port}/tasks",
            allowed_hosts=(NAME,),
            dedupe=Nothing(),
        )
        target = HttpEndpoint(client, endpoint, secret, FixedClock(), Reach(is_local=True, resolve=here))
        try:
            return await target.send({}, KEY, ENOUGH), asked
        except CallFailure as failure:
            return failure, asked


async def test_the_declared_name_is_asked_for_and_proven(tmp_path: Path) -> None:
    """Although the connection goes to a number."""
    reply, asked = await sent(tmp_path, NAME)

    assert (type(reply), asked) == (ModelReply, [NAME])


async def test_whoever_proves_another_name_gets_nothing(tmp_path: Path) -> None:
    """Not even the request's head: it was not sent."""
    failure, asked = await sent(tmp_path, "elsewhere.example")

    assert isinstance(failure, CallFailure)
    assert (failure.was_sent, failure.code, asked) == (False, "target_unreachable", [NAME])
