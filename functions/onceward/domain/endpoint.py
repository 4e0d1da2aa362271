"""A declared HTTP target: where it is, how it is asked, and what it promises about a request that comes twice.

What it promises decides what a maybe comes to, so it is declared only where the target's documentation says it:

=====================  ==============================================================================================
``IdempotencyHeader``  a second request under the same key changes nothing and gets the first one's answer
``NaturalKey``         a second request with the same business values is refused as a conflict; the object is read back
``Lookup``             the request carries an id of ours, and the target can be asked for it
``Nothing``            none of these: after a maybe the call is never repeated, a person decides
=====================  ==============================================================================================
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, assert_never
from urllib.parse import quote, urlsplit

from onceward.domain.names import DownstreamKey
from onceward.domain.policy import Capability
from onceward.domain.timing import JOB_LIFE
from onceward.errors import RegistrationError

type Method = Literal["POST", "PUT", "PATCH", "DELETE", "GET"]

NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")  # goes into the hot row, into switches and metrics
PLACEHOLDER = re.compile(r"\{(\w+)\}")
KEY = "key"  # the placeholder of our own id in a lookup's address
KEYS_OF_MODELS = frozenset({"openai", "anthropic", "bedrock"})  # members of the same secret
_STEPS = frozenset({"", ".", ".."})  # segments that are none
HEADER_WINDOW = timedelta(hours=24)  # what services that dedupe by key commonly state


@dataclass(frozen=True, slots=True, kw_only=True)
class IdempotencyHeader:
    """The target dedupes by this header, for ``window`` from the first request on."""

    header: str = "Idempotency-Key"
    window: timedelta = HEADER_WINDOW


@dataclass(frozen=True, slots=True, kw_only=True)
class NaturalKey:
    """The target answers 409 where the object is there already; ``read_back``: the address to GET it from.

    What is read counts only if it holds one of the values that the address names.
    """

    read_back: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """The body's ``id_field`` carries our id; ``address``, with ``{key}``, finds what was made, with that field in it.

    ``lag``: for how long after it ended a request may not be found; ``absent_code``: the ``code`` in the body of the
    404 that means "no such id" (``None``: any 404 does, also that of a wrong address, which would be a second effect).
    """

    address: str
    id_field: str
    absent_code: str | None
    lag: timedelta = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Nothing:
    """No promise at all."""


type Dedupe = IdempotencyHeader | NaturalKey | Lookup | Nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Auth:
    """The credential is the secret's member ``secret``, sent as ``scheme`` and value in ``header``."""

    secret: str
    header: str = "Authorization"
    scheme: str = "Bearer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One thing that a target can be asked to do; ``url`` and the dedupe's addresses name arguments as ``{name}``.

    Arguments that the address does not use are the JSON body, or the query of a GET or DELETE. ``allowed_hosts``: where
    requests and their credential may go, whatever a stage puts in the address's place.
    """

    name: str
    method: Method
    url: str
    allowed_hosts: tuple[str, ...]
    dedupe: Dedupe
    auth: Auth | None = None

    def __post_init__(self) -> None:
        """Refuse what contradicts itself, at import and not in the middle of a job."""
        if NAME.fullmatch(self.name) is None:
            raise RegistrationError(f"endpoint {self.name}: a name is 1-32 of [a-z0-9_], a letter first")
        for address in self.addresses:
            _check_address(self.name, address, self.allowed_hosts)
        if self.auth is not None and self.auth.secret in KEYS_OF_MODELS:
            raise RegistrationError(f"endpoint {self.name}: a model's key is for the model alone")
        if isinstance(self.dedupe, Lookup) and PLACEHOLDER.findall(self.dedupe.address) != [KEY]:
            raise RegistrationError(f"endpoint {self.name}: a lookup's address names {{key}} and nothing else")
        if isinstance(self.dedupe, NaturalKey) and not PLACEHOLDER.findall(self.dedupe.read_back):
            raise RegistrationError(f"endpoint {self.name}: what is read back is named by an argument")
        if isinstance(self.dedupe, Lookup) and not self.has_body:
            raise RegistrationError(f"endpoint {self.name}: an id is looked up that no body carries")

    @property
    def addresses(self) -> tuple[str, ...]:
        """Every address that is ever asked."""
        match self.dedupe:
            case NaturalKey(read_back=address) | Lookup(address=address):
                return (self.url, address)
            case _:
                return (self.url,)

    @property
    def route(self) -> str:
        """Who is asked, by whose credential, and by what a request is known again there: what a promise is about.

        A key that went to another address, or under another header, is one that this target has never seen.
        """
        whose = "" if self.auth is None else self.auth.secret
        return " ".join((f"http:{self.name}", self.method, self.url, whose, *self._known_by))

    @property
    def _known_by(self) -> tuple[str, ...]:
        """By what the target knows a request that comes twice; how long, and its words then, are no part of it."""
        match self.dedupe:
            case IdempotencyHeader(header=header):
                return ("header", header.lower())
            case NaturalKey():
                return ("natural",)
            case Lookup(id_field=id_field, address=address):
                return ("lookup", id_field, address)
            case Nothing():
                return ()
            case _:
                assert_never(self.dedupe)

    @property
    def has_body(self) -> bool:
        """Whether arguments travel as a JSON body."""
        return self.method in ("POST", "PUT", "PATCH")

    @property
    def needs(self) -> frozenset[str]:
        """The arguments that its addresses name."""
        return frozenset(name for one in self.addresses for name in PLACEHOLDER.findall(one)) - {KEY}

    def may_carry(self, arguments: Mapping[str, object]) -> bool:
        """Whether every address can be filled from these arguments, so that no request is refused before it leaves."""
        try:
            for one in self.addresses:
                filled(one, {**arguments, KEY: KEY})
        except ValueError:
            return False
        return True

    @property
    def capability(self) -> Capability:
        """The promise as recovery reads it."""
        match self.dedupe:
            case IdempotencyHeader(window=window):
                return Capability(dedup_window=window)
            case NaturalKey():
                return Capability(dedup_window=JOB_LIFE)  # the object itself is the proof, as long as it is there
            case Lookup(lag=lag):
                return Capability(lookup_lag=lag)
            case Nothing():
                return Capability()
            case _:
                assert_never(self.dedupe)


def filled(address: str, values: Mapping[str, object]) -> str:
    """The address with its placeholders filled, each inside its one path segment or query value.

    Text stands there as it is, anything else as JSON. Raises ``ValueError`` for a value that is not there or null, or
    that would leave its segment empty or make it a step (``.``, ``..``) that clients and servers resolve: the request
    would go to another resource.
    """
    made = PLACEHOLDER.sub(lambda found: quote(spelt(values.get(found[1])), safe=""), address)
    declared, filled_in = (urlsplit(one).path.split("/") for one in (address, made))
    if any("{" in before and after in _STEPS for before, after in zip(declared, filled_in, strict=True)):
        raise ValueError("a value cannot be a segment of the address")
    return made


def spelt(value: object) -> str:
    """A value in an address; raises ``ValueError`` for none."""
    if value is None:
        raise ValueError("a value is missing")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def lookup_address(dedupe: Lookup, key: DownstreamKey) -> str:
    """Where to ask what became of a key."""
    return filled(dedupe.address, {KEY: key})


def host_of(address: str) -> str:
    """The host of an address, in lower case."""
    return (urlsplit(address).hostname or "").lower()


def _check_address(name: str, address: str, allowed_hosts: tuple[str, ...]) -> None:
    """Refuse an address whose host could be anything but one of the declared ones; raises ``RegistrationError``."""
    parts = urlsplit(address)
    if parts.scheme != "https" or parts.username is not None or parts.fragment:
        raise RegistrationError(f"endpoint {name}: an address is https://host/..., without user or fragment")
    if "{" in parts.netloc or host_of(address) not in allowed_hosts:
        raise RegistrationError(f"endpoint {name}: the host of {address} is not among its allowed hosts")
