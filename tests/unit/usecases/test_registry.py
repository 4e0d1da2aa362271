"""Registering a kind: what no job could be made of, or no job could end under, stops a deploy."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import BaseModel

from onceward.domain.policy import KindPolicy
from onceward.errors import RegistrationError
from onceward.usecases.context import Context
from onceward.usecases.registry import Registry
from tests.support.builders import a_policy, seconds


class Empty(BaseModel):
    """Nothing in, nothing out."""


def registered(policy: KindPolicy) -> Registry:
    """A registry with one kind under that policy."""
    registry = Registry()

    @registry.kind(policy=policy, input_model=Empty, output_model=Empty)
    async def run(ctx: Context, given: Empty) -> Empty:
        return Empty()

    return registry


@pytest.mark.parametrize("name", ["", "Ticket.sort", "ticket-sort", "ticket..sort", "1st", "x\n", "a" * 65])
def test_a_name_that_no_request_may_give_is_refused(name: str) -> None:
    """The API would answer 422 for ever."""
    with pytest.raises(RegistrationError, match="a name is"):
        registered(replace(a_policy(), name=name))


@pytest.mark.parametrize("version", [0, -1, 10_000])
def test_a_version_that_no_step_key_holds_is_refused(version: int) -> None:
    """Each of its steps would end its job."""
    with pytest.raises(RegistrationError, match="a version is"):
        registered(replace(a_policy(), version=version))


@pytest.mark.parametrize("call_seconds", [0, -1])
def test_a_call_without_time_is_refused(call_seconds: int) -> None:
    """It would be given up before it left."""
    with pytest.raises(RegistrationError, match="no call can end"):
        registered(a_policy(call_timeout=seconds(call_seconds)))


@pytest.mark.parametrize(("name", "version"), [("a", 1), ("ticket.sort_2", 9_999), ("a" * 64, 1)])
def test_the_limits_themselves_are_taken(name: str, version: int) -> None:
    """What is found by its name afterwards."""
    assert registered(replace(a_policy(), name=name, version=version)).find(name).policy.version == version
