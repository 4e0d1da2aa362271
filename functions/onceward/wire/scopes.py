"""Scopes: what a token may allow, and how they are spelt in one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

RESOURCE_SERVER = "onceward"  # Cognito spells a scope with its resource server in front


class Scope(StrEnum):
    """What a caller may do with its own tenant's jobs."""

    JOBS_READ = "jobs:read"
    JOBS_WRITE = "jobs:write"
    ACTIONS = "actions"  # asks for the actions that the caller's entry names; a token holds each as ``actions:<name>``
    OPS = "ops"

    @property
    def spelt(self) -> str:
        """The scope as Cognito knows it."""
        return f"{RESOURCE_SERVER}/{self}"


_ACTION = re.compile(rf"(?:{RESOURCE_SERVER}/)?actions:([a-z][a-z0-9_]{{0,31}})")


def action_scope(name: str) -> str:
    """The scope of one action, as a token holds it."""
    return f"{RESOURCE_SERVER}/{Scope.ACTIONS}:{name}"


def read_actions(claim: object) -> frozenset[str]:
    """The names of the actions that a claim allows; bare or with our resource server in front."""
    found = (_ACTION.fullmatch(word) for word in _words(claim) if isinstance(word, str))
    return frozenset(one[1] for one in found if one is not None)


def read_scopes(claim: object) -> frozenset[Scope]:
    """The scopes of ours in a claim: a string with spaces, or a list, which the gateway passes on as ``[a b]``.

    Bare or with our resource server in front; another server's scope of the same name is not ours.
    """
    return scopes_of(_words(claim))


def scopes_of(words: Iterable[object]) -> frozenset[Scope]:
    """Those of the words that are scopes of ours."""
    known = {spelling: scope for scope in Scope for spelling in (str(scope), scope.spelt)}
    return frozenset(known[word] for word in words if isinstance(word, str) and word in known)


def _words(claim: object) -> Iterable[object]:
    """The words of a claim, however it is spelt."""
    if isinstance(claim, str):
        return claim.strip("[]").replace(",", " ").split()
    return claim if isinstance(claim, list | tuple | set | frozenset) else ()
