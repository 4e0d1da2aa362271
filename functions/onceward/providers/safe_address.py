"""Where a declared target may be reached: at a public address, and at the very one that was checked.

A name is resolved once, every address it has is judged, and the request goes to a judged address by its number: a name
that resolves to another address a moment later (rebinding) changes nothing. TLS still proves the name.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from onceward.domain.retry import ErrorClass
from onceward.errors import CallFailure

type Address = IPv4Address | IPv6Address
type Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

NAT64 = IPv6Network("64:ff9b::/96")  # its last 32 bits are the IPv4 address that is really reached
COMPATIBLE = IPv6Network("::/96")  # so are these, in an old form
UNICAST = IPv6Network("2000::/3")  # all that was ever given out to the world; fec0::/10, once site-local, is none of it


@dataclass(frozen=True, slots=True)
class Place:
    """A checked address, as a URL's host spells it."""

    address: Address

    @property
    def host(self) -> str:
        """The number, in brackets if it is IPv6."""
        return f"[{self.address}]" if self.address.version == 6 else str(self.address)  # noqa: PLR2004


async def resolve(host: str, port: int) -> Sequence[str]:
    """All addresses of a name, by the system's resolver, in a thread that the invocation was lent."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(one[4][0]) for one in found]


async def find_place(host: str, port: int, find: Resolve, *, may_be_loopback: bool) -> Place:
    """The address to connect to; raises ``CallFailure`` (nothing was sent) for a name that leads where it may not.

    One forbidden address among good ones forbids the name: nobody who means well mixes them.
    """
    try:
        addresses = [ip_address(one.partition("%")[0]) for one in await find(host, port)]
    except (OSError, UnicodeError, ValueError):
        addresses = []
    if not addresses:
        raise _refused("target_unresolved", ErrorClass.TRANSIENT)
    if not all(is_outside(one) or (may_be_loopback and one.is_loopback) for one in addresses):
        raise _refused("target_address_forbidden", ErrorClass.PERMANENT)
    # IPv4 first: a function without IPv6 would otherwise fail to connect to a host that has both.
    return Place(min(addresses, key=lambda one: one.version))


def is_outside(address: Address) -> bool:
    """Whether an address is a public unicast one, however an IPv4 address is wrapped in it."""
    if isinstance(address, IPv6Address):
        inner = _wrapped(address)
        if inner is not None:
            return is_outside(inner)
        if address not in UNICAST:
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _wrapped(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address stands for, if it does."""
    if address in NAT64 or (address in COMPATIBLE and int(address) > 1):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo is not None else None)


def _refused(code: str, error_class: ErrorClass) -> CallFailure:
    """Not sent, and why; the name stays out of it, since it may hold an argument."""
    return CallFailure("the target's address cannot be used", code=code, error_class=error_class, was_sent=False)
