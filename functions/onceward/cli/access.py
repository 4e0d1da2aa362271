"""Where the API is and as whom it is asked: flags first, then the file of a local stack, then the environment."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from onceward.client import Misconfigured, Onceward


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """What was given before the command's name; each command takes what concerns it."""

    url: str | None = None
    token: str | None = field(default=None, repr=False)
    stack: Path | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What the flags say; ``None``: the environment says it."""

    url: str | None = None
    token: str | None = field(default=None, repr=False)

    @classmethod
    def of_stack(cls, path: Path, name: str) -> Self:
        """The access of one of a local stack's tenants, out of the file that ``make run`` writes.

        Raises ``Misconfigured``, which never quotes the file: tokens are in it.
        """
        with described(path, f"with a tenant {name}") as stack:
            tokens = dict(stack["tokens"])
            if name not in tokens:
                raise Misconfigured(f"{path} has no tenant {name}; it has {', '.join(tokens)}")
            return cls(url=str(stack["api_url"]), token=str(tokens[name]))

    def connect(self) -> Onceward:
        """The client; raises ``Misconfigured``."""
        return Onceward(self.url, self.token)


def find_access(flags: Flags) -> Access:
    """What the flags amount to; raises ``Misconfigured``."""
    if flags.stack is None:
        if flags.name is not None:
            raise Misconfigured("--as names a tenant of a local stack: say which by --stack")
        return Access(url=flags.url, token=flags.token)
    if flags.name is None:
        with described(flags.stack) as stack:
            raise Misconfigured(f"--stack needs --as: the tenant to be, of {', '.join(dict(stack['tokens']))}")
    known = Access.of_stack(flags.stack, flags.name)
    return Access(url=flags.url or known.url, token=flags.token or known.token)


@contextmanager
def described(path: Path, what: str = "") -> Iterator[Any]:
    """A local stack's file, read; whatever is missing in it raises ``Misconfigured``, which never quotes the file."""
    try:
        yield json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Misconfigured(f"cannot read {path}: {error.strerror}; `make run` writes it") from None
    except (ValueError, KeyError, TypeError):
        raise Misconfigured(f"{path} describes no running stack {what}".rstrip()) from None
