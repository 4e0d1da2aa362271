"""Which addresses a declared target may have, and that the judged address is the one that is reached."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address

import pytest

from onceward.errors import CallFailure
from onceward.providers.safe_address import Resolve, find_place, is_outside, resolve

pytestmark = pytest.mark.anyio

FORBIDDEN = [
    "127.0.0.1",
    "127.1.2.3",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",  # carrier-grade NAT
    "169.254.169.254",  # instance metadata
    "169.254.170.2",  # a task's credentials
    "192.0.0.192",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "fe80::1",
    "fec0::1",  # once site-local: Python calls it global
    "64:ff9b:1::a9fe:a9fe",  # metadata through a network's own NAT64
    "::ffff:0:a9fe:a9fe",  # metadata, translated
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",  # instance metadata
    "ff02::1",
    "::ffff:169.254.169.254",
    "::ffff:10.0.0.1",
    "::7f00:1",
    "64:ff9b::a9fe:a9fe",  # metadata through NAT64
    "2002:a9fe:a9fe::1",  # metadata through 6to4
    "2001:db8::1",
]
ALLOWED = ["93.184.215.14", "8.8.8.8", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "64:ff9b::808:808"]


@pytest.mark.parametrize("address", FORBIDDEN)
def test_addresses_inside_a_network_are_forbidden(address: str) -> None:
    """Private, loopback, link-local, metadata, multicast, reserved: however they are written."""
    assert not is_outside(ip_address(address))


@pytest.mark.parametrize("address", ALLOWED)
def test_public_addresses_are_allowed(address: str) -> None:
    """Anything that the whole world reaches the same way."""
    assert is_outside(ip_address(address))


def names(*addresses: str) -> Resolve:
    """A resolver that knows one answer."""

    async def find(host: str, port: int) -> Sequence[str]:
        return addresses

    return find


async def test_one_forbidden_address_forbids_the_name() -> None:
    """A name that mixes them could be connected to either way."""
    with pytest.raises(CallFailure) as refused:
        await find_place("mixed.example", 443, names("93.184.215.14", "10.0.0.1"), may_be_loopback=False)

    assert (refused.value.code, refused.value.was_sent) == ("target_address_forbidden", False)


async def test_a_name_without_an_address_is_tried_again_later() -> None:
    """Nothing was sent; a name server that does not answer is no reason to give up."""

    async def fail(host: str, port: int) -> Sequence[str]:
        raise OSError

    for find in (names(), fail):
        with pytest.raises(CallFailure) as refused:
            await find_place("gone.example", 443, find, may_be_loopback=False)
        assert (refused.value.error_class, refused.value.was_sent) == ("transient", False)


async def test_loopback_is_for_local_stages() -> None:
    """And nothing else inside a network is."""
    assert (await find_place("here", 80, names("127.0.0.1"), may_be_loopback=True)).host == "127.0.0.1"
    with pytest.raises(CallFailure):
        await find_place("here", 80, names("10.0.0.1"), may_be_loopback=True)


async def test_ipv4_goes_first_and_ipv6_is_bracketed() -> None:
    """A function without IPv6 reaches a host that has both."""
    both = names("2606:2800:21f:cb07:6820:80da:af6b:8b2c", "93.184.215.14")

    assert (await find_place("both.example", 443, both, may_be_loopback=False)).host == "93.184.215.14"
    assert (await find_place("six.example", 443, names(ALLOWED[2]), may_be_loopback=False)).host.startswith("[2606")


async def test_the_system_resolver_reads_odd_spellings_of_numbers() -> None:
    """``2130706433`` and ``0x7f.1`` are 127.0.0.1 to a resolver: they are judged after it has read them."""
    for odd in ("2130706433", "0x7f.1", "127.1"):
        with pytest.raises(CallFailure):
            await find_place(odd, 443, resolve, may_be_loopback=False)
