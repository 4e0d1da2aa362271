"""``coalesce`` of a request: two words and nothing else; a wish of the job, and no part of what the request is."""

from __future__ import annotations

import json

import pytest

from onceward.domain.names import JobId
from tests.support.api_world import ApiWorld, an_event, ask, claims_of, create
from tests.support.builders import a_job

FLIGHT, ABSENT = JobId(f"0{'A' * 25}-AAAAAAAA"), JobId(f"{'B' * 26}-AAAAAAAA")


def body(*more: str) -> str:
    """A request's text with these members at its end."""
    return "{" + ", ".join(('"kind": "text.generate"', '"input": {"prompt": "hello"}', *more)) + "}"


def stored(world: ApiWorld) -> list[bool]:
    """What each stored input says."""
    inputs = (items["input"] for items in world.store.items.values())
    return [json.loads(item.body or "")["coalesce"] for item in inputs]  # type: ignore[union-attr]


@pytest.mark.parametrize(("more", "wish"), [((), True), (('"coalesce": true',), True), (('"coalesce": false',), False)])
def test_a_request_may_ask_to_be_computed_apart(more: tuple[str, ...], *, wish: bool) -> None:
    """It is kept with the input, where the worker reads it; without a word the job shares."""
    world = ApiWorld()

    assert create(world.api(), body=body(*more)).status == 202
    assert stored(world) == [wish]


@pytest.mark.parametrize(
    "value", ['"false"', '"no"', '""', "0", "1", "0.0", "null", "[]", "[false]", "{}", '{"$ne": true}', '"\\u0000"']
)
def test_nothing_else_is_a_wish(value: str) -> None:
    """What only looks like one is refused with its place, before anything is stored: a guess could share, or pay."""
    world = ApiWorld()
    reply = create(world.api(), body=body(f'"coalesce": {value}'))
    told = json.loads(reply.text)

    assert (reply.status, told["code"]) == (422, "invalid_input")
    assert [one["pointer"] for one in told["errors"]] == ["/coalesce"]
    assert world.store.rows == {}


@pytest.mark.parametrize("text", ['"coalesce": true, "coalesce": false', '"coalesce": NaN', '"coalesce": False'])
def test_what_is_no_json_to_everybody_is_refused(text: str) -> None:
    """Two members of one name could be read either way."""
    world = ApiWorld()

    assert create(world.api(), body=body(text)).status == 400
    assert world.store.rows == {}


def test_it_is_no_part_of_what_the_request_is() -> None:
    """The same key with another wish is a replay of the first: its job is there, and keeps its wish."""
    world = ApiWorld()
    first = create(world.api(), body=body('"coalesce": false'))
    again = create(world.api(), body=body('"coalesce": true'))

    assert (again.status, again.headers["idempotent-replayed"]) == (202, "true")
    assert json.loads(again.text)["job_id"] == json.loads(first.text)["job_id"]
    assert stored(world) == [False]


def test_a_word_of_the_input_is_the_kind_s() -> None:
    """``coalesce`` inside the input is the kind's to read; this one knows no such field, and its name is not told."""
    reply = create(ApiWorld().api(), body='{"kind": "text.generate", "input": {"prompt": "hello", "coalesce": false}}')

    assert [one["pointer"] for one in json.loads(reply.text)["errors"]] == ["/input/?"]


@pytest.mark.parametrize(
    ("method", "path"), [("GET", ""), ("DELETE", ""), ("POST", "/cancel"), ("GET", "/attempts"), ("GET", "/events")]
)
def test_a_flight_is_answered_as_a_job_that_is_not_there(method: str, path: str) -> None:
    """Whoever learns its id, from a dead letter, say, can neither read nor stop what others wait for."""
    world = ApiWorld()
    world.keep(a_job(job_id=FLIGHT, participants=1))
    replies = [
        ask(world.api(), an_event(method, f"/api/ai/jobs/{job_id}{path}", claims=claims_of()))
        for job_id in (FLIGHT, ABSENT)
    ]
    told = [{**json.loads(reply.text), "request_id": "", "instance": "", "job_id": ""} for reply in replies]

    assert replies[0].status == 404
    assert told[0] == told[1]
    assert world.kept(FLIGHT).cancel_requested_at is None
