"""Where a declared target's requests may go: never into a network, never to another host or path than declared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from onceward.domain.endpoint import NaturalKey
from onceward.errors import CallFailure, SecretUnavailable
from onceward.providers.http import make_client
from onceward.providers.http_endpoint import HttpEndpoint, Reach
from tests.unit.providers.asking import ENOUGH, KEY, SECRET, SOON, FixedClock, secret
from tests.unit.providers.scripted_server import answering, serving
from tests.unit.providers.test_http_endpoint import ARGUMENTS, HOST, an_endpoint, reach_of

pytestmark = pytest.mark.anyio


def names(*addresses: str) -> Any:
    """A resolver that knows one answer after the other, and counts how often it was asked."""
    left = list(addresses)

    async def find(host: str, port: int) -> Sequence[str]:
        return [left.pop(0)]

    return find


@pytest.mark.parametrize("address", ["169.254.169.254", "10.0.0.1", "127.0.0.1", "::1", "::ffff:10.0.0.1"])
async def test_a_real_stage_never_reaches_into_a_network(address: str) -> None:
    """Nothing is sent, and it is final."""
    async with make_client() as client:
        target = HttpEndpoint(client, an_endpoint(), secret, FixedClock(), Reach(resolve=names(address)))
        with pytest.raises(CallFailure) as refused:
            await target.send(ARGUMENTS, KEY, ENOUGH)

    assert (refused.value.code, refused.value.was_sent) == ("target_address_forbidden", False)


async def test_a_name_that_changes_its_address_in_between_is_reached_where_it_was_checked() -> None:
    """Rebinding: the name is resolved once, and the connection goes to the checked number; ``Host`` keeps the name."""
    async with serving(answering(201, {})) as seen, make_client() as client:
        port = seen.url.rsplit(":", 1)[1].removesuffix("/v1")
        reach = Reach(
            origins={HOST: f"http://localhost:{port}"}, is_local=True, resolve=names("127.0.0.1", "169.254.169.254")
        )
        await HttpEndpoint(client, an_endpoint(), secret, FixedClock(), reach).send(ARGUMENTS, KEY, ENOUGH)

    assert (seen.connections, seen.header("host")) == (1, f"localhost:{port}")


async def test_a_real_stage_refuses_plain_http_and_foreign_hosts() -> None:
    """Whatever a stage puts in the host's place: https, and a host that the declaration allows."""
    for origin in ("http://tracker.example", "https://elsewhere.example", "https://user@tracker.example"):
        async with make_client() as client:
            reach = Reach(origins={HOST: origin}, resolve=names("93.184.215.14"))
            with pytest.raises(CallFailure) as refused:
                await HttpEndpoint(client, an_endpoint(), secret, FixedClock(), reach).send(ARGUMENTS, KEY, SOON)
        assert (refused.value.was_sent, refused.value.code) in {
            (False, "target_address_forbidden"),
            (False, "target_unreachable"),  # the user's name was dropped, and nobody listens there
        }


async def test_an_argument_cannot_change_the_host_or_the_path() -> None:
    """It stays one segment, whatever it holds."""
    async with serving(answering(201, {})) as seen, make_client() as client:
        target = HttpEndpoint(client, an_endpoint(), secret, FixedClock(), reach_of(seen))
        await target.send({"project": "../../@evil.example/?x#y\r\nh: 1"}, KEY, ENOUGH)

    assert seen.heads[0].startswith("POST /p/..%2F..%2F%40evil.example%2F%3Fx%23y%0D%0Ah%3A%201/tasks ")


async def test_a_conflict_is_read_back_from_an_address_that_was_filled_before_the_send() -> None:
    """One that cannot be filled would be found out after the fact."""
    endpoint = an_endpoint(NaturalKey(read_back=f"https://{HOST}/p/{{title}}"))
    async with serving(answering(409, {})) as seen, make_client() as client:
        target = HttpEndpoint(client, endpoint, secret, FixedClock(), reach_of(seen))
        with pytest.raises(CallFailure) as refused:
            await target.send({**ARGUMENTS, "title": ".."}, KEY, ENOUGH)

    assert (refused.value.code, refused.value.was_sent, seen.connections) == ("target_request_invalid", False, 0)


async def test_what_cannot_be_a_request_is_not_sent() -> None:
    """A missing path argument, half a surrogate pair in one, or one that would make it another path."""
    for arguments in ({}, *({"project": one} for one in ("\ud800", "", ".", "..", None))):
        async with serving(answering(201, {})) as seen, make_client() as client:
            target = HttpEndpoint(client, an_endpoint(), secret, FixedClock(), reach_of(seen))
            with pytest.raises(CallFailure) as refused:
                await target.send(arguments, KEY, ENOUGH)
        assert (refused.value.code, refused.value.was_sent, seen.connections) == ("target_request_invalid", False, 0)


async def test_a_credential_that_cannot_be_read_sends_nothing_and_is_never_told() -> None:
    """And none of what is raised quotes it."""

    async def gone() -> str:
        raise SecretUnavailable("no")

    async with serving(answering(500, {"echo": SECRET})) as seen, make_client() as client:
        with pytest.raises(SecretUnavailable):
            await HttpEndpoint(client, an_endpoint(), gone, FixedClock(), reach_of(seen)).send(ARGUMENTS, KEY, ENOUGH)
        with pytest.raises(CallFailure) as failed:
            await HttpEndpoint(client, an_endpoint(), secret, FixedClock(), reach_of(seen)).send(ARGUMENTS, KEY, ENOUGH)

    assert (seen.connections, SECRET in repr(failed.value)) == (1, False)
