"""A declared target: what is refused at import, and what its promise is to recovery."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from onceward.domain.endpoint import Auth, Endpoint, IdempotencyHeader, Lookup, NaturalKey, Nothing, filled
from onceward.domain.policy import Capability
from onceward.errors import RegistrationError
from onceward.usecases.gone_target import GoneTarget

HOST = "tracker.example"
URL = f"https://{HOST}/tasks"


def an_endpoint(**fields: Any) -> Endpoint:
    """A right one, but for what a test changes."""
    given = {"name": "create_task", "method": "POST", "url": URL, "allowed_hosts": (HOST,), "dedupe": Nothing()}
    return Endpoint(**{**given, **fields})


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "Create"},
        {"name": "a" * 33},
        {"url": "http://tracker.example/tasks"},
        {"url": "https://elsewhere.example/tasks"},
        {"url": "https://{host}/tasks"},
        {"url": "https://tracker.example@elsewhere.example/"},
        {"url": "https://user@tracker.example/tasks"},
        {"dedupe": NaturalKey(read_back="https://elsewhere.example/{id}")},
        {"dedupe": NaturalKey(read_back=URL)},
        {"dedupe": Lookup(address=URL, id_field="external_id", absent_code=None)},
        {"dedupe": Lookup(address=f"{URL}/{{title}}", id_field="external_id", absent_code=None)},
        {"dedupe": Lookup(address=f"{URL}/{{key}}", id_field="external_id", absent_code=None), "method": "DELETE"},
        {"auth": Auth(secret="openai")},
    ],
)
def test_a_contradiction_stops_a_deploy(fields: dict[str, Any]) -> None:
    """Hosts, addresses, promises and credentials that could only fail in the middle of a job, or go astray."""
    with pytest.raises(RegistrationError):
        an_endpoint(**fields)


@pytest.mark.parametrize(
    ("fields", "is_same"),
    [
        ({"url": f"{URL}/new"}, False),
        ({"method": "PUT"}, False),
        ({"auth": Auth(secret="other")}, False),
        ({"dedupe": IdempotencyHeader(header="X-Request-Id")}, False),
        ({"dedupe": NaturalKey(read_back=f"{URL}/{{ticket}}")}, False),
        ({"dedupe": IdempotencyHeader(header="idempotency-key", window=timedelta(hours=1))}, True),
    ],
)
def test_a_key_is_known_where_it_went_and_by_what_it_went_under(fields: dict[str, Any], *, is_same: bool) -> None:
    """Moved, or told apart by something else, a target has not seen what was sent before."""
    before = {"dedupe": IdempotencyHeader(), "auth": Auth(secret="tracker")}

    assert (an_endpoint(**before).route == an_endpoint(**{**before, **fields}).route) is is_same


def test_another_field_or_another_list_finds_nothing_of_what_was_sent_before() -> None:
    """That it finds nothing there is no proof; what "not found" looks like, and how soon, is not part of it."""
    found = Lookup(address=f"{URL}/{{key}}", id_field="external_id", absent_code="gone")

    assert an_endpoint(dedupe=replace(found, id_field="reference")).route != an_endpoint(dedupe=found).route
    assert an_endpoint(dedupe=replace(found, address=f"{URL}?id={{key}}")).route != an_endpoint(dedupe=found).route
    assert an_endpoint(dedupe=replace(found, absent_code=None)).route == an_endpoint(dedupe=found).route


def test_a_promise_is_read_as_recovery_knows_it() -> None:
    """A window, a lag, or nothing."""
    header = an_endpoint(dedupe=IdempotencyHeader(window=timedelta(hours=1)))
    natural = an_endpoint(dedupe=NaturalKey(read_back=f"{URL}/{{ticket}}"))
    looked_up = an_endpoint(dedupe=Lookup(address=f"{URL}/{{key}}", id_field="external_id", absent_code="gone"))

    assert header.capability == Capability(dedup_window=timedelta(hours=1))
    assert natural.capability.dedup_window == timedelta(days=90)
    assert looked_up.capability == Capability(lookup_lag=timedelta(seconds=1))
    assert an_endpoint().capability == Capability()
    assert natural.needs == {"ticket"}


def test_a_value_stays_inside_its_place() -> None:
    """Whatever it holds."""
    assert (
        filled("https://h.example/{a}/x?q={b}", {"a": "../b", "b": "1&c=2"}) == "https://h.example/..%2Fb/x?q=1%26c%3D2"
    )


@pytest.mark.parametrize("value", ["", ".", "..", None])
def test_a_value_that_is_no_segment_fills_no_address(value: str | None) -> None:
    """``DELETE /tasks/{id}`` without an id is another request, and so is one a step up."""
    for address in ("https://h.example/{a}/x", "https://h.example/tasks/{a}"):
        with pytest.raises(ValueError, match="value"):
            filled(address, {"a": value})
    with pytest.raises(ValueError, match="segment"):
        filled("https://h.example/{a}{b}/x", {"a": ".", "b": "."})
    assert filled("https://h.example/v{a}?q={b}", {"a": "", "b": ""}) == "https://h.example/v?q="


def test_an_endpoint_tells_beforehand_whether_its_addresses_can_be_filled() -> None:
    """The one that is read back too: a conflict must not meet an address that cannot be asked."""
    endpoint = an_endpoint(dedupe=NaturalKey(read_back=f"{URL}/{{ticket}}"))

    assert endpoint.may_carry({"ticket": "481"})
    assert endpoint.may_carry({"ticket": 481})
    assert not any(endpoint.may_carry({"ticket": one}) for one in ("", "..", None, "\ud800"))
    assert not endpoint.may_carry({})


def test_a_target_that_is_not_declared_any_more_promises_nothing() -> None:
    """What was sent to it stays a maybe."""
    assert GoneTarget("old").capability == Capability()
    assert GoneTarget("old").price("m", None) is None
