"""The six checks of an agent's action on the deployed stack, each for all four kinds of target.

The tracker's own log is the witness of what really happened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
import pytest

from onceward.client import ActionAnswer, ActionFailed, ActionParked, Onceward
from onceward.local.server import NO_TLS
from tests.scenarios.customers import token_of
from tests.scenarios.stack import PATIENCE_WITH_STARTS, DeployedStack, until
from tests.support.deployed.actions import PROMISES

SCOPES = (
    *("jobs:read", "jobs:write", "actions", "ops", "actions:test_approved"),
    *(f"actions:test_{one}" for one in PROMISES),
)
CROWD = 8


@dataclass(frozen=True, kw_only=True)
class Agent:
    """Somebody who acts for one tenant, and the witness."""

    stack: DeployedStack
    client: Onceward
    token: str

    def post(self, promise: str, ticket: str, *, title: str = "Check", prefer: int | None = None) -> httpx.Response:
        """One bare request; the ticket is the operation."""
        headers = {"authorization": f"Bearer {self.token}"}
        headers |= {} if prefer is None else {"prefer": f"wait={prefer}"}
        body = {"operation_id": ticket, "action": f"test_{promise}", "arguments": _task(ticket, title)}
        return self.stack.http.post("/agent-actions", json=body, headers=headers)

    def act(
        self, promise: str, ticket: str, title: str = "Check", run_id: str | None = None
    ) -> ActionAnswer | ActionParked | ActionFailed:
        """Through the SDK, until it has an end."""
        arguments, patience = _task(ticket, title), PATIENCE_WITH_STARTS
        try:
            return self.client.act(f"test_{promise}", arguments, operation_id=ticket, run_id=run_id, timeout=patience)
        except (ActionParked, ActionFailed) as error:
            return error

    def effects(self, ticket: str) -> int:
        """What the tracker did for a ticket."""
        return len(self.stack.tracker.effects(ticket))


def _task(ticket: str, title: str) -> dict[str, Any]:
    return {"source_ticket": ticket, "title": title}


def a_ticket(promise: str) -> str:
    """A new intention."""
    return f"{promise}-{uuid4()}"


def for_each(work: Callable[[str], None]) -> None:
    """Do something for all kinds of target at once."""
    with ThreadPoolExecutor(len(PROMISES)) as pool:
        list(pool.map(work, PROMISES))


def for_each_loss(lose: Callable[[str], None]) -> None:
    """Lose a worker for each kind of target; the fourth kind's alone.

    Another action's death, in the process that they would share, could hit it at another place and leave a maybe there.
    """
    lose("nothing")
    with ThreadPoolExecutor(len(PROMISES)) as pool:
        list(pool.map(lose, (promise for promise in PROMISES if promise != "nothing")))


@pytest.fixture(scope="module")
def agent(stack: DeployedStack) -> Iterator[Agent]:
    """An agent with permission for the tests' actions."""
    token = token_of(stack, "hooli", SCOPES)
    direct = httpx.Client(trust_env=False, verify=NO_TLS)
    base = f"{stack.cloud.endpoint_url}/_aws/execute-api/{stack.outputs['ApiId']}/$default"
    with direct, Onceward(base, token, http_client=direct, timeout=PATIENCE_WITH_STARTS) as client:
        yield Agent(stack=stack, client=client, token=token)


def crowd_of(agent: Agent, size: int) -> dict[str, list[ActionAnswer | ActionParked | ActionFailed]]:
    """So many at once under one key, for each kind of target; answers by ticket."""
    told = {}
    for promise in PROMISES:
        ticket = a_ticket(promise)
        with ThreadPoolExecutor(size) as pool:
            runs = [f"run-{number}" for number in range(size)]
            told[ticket] = list(pool.map(lambda run, one=promise, key=ticket: agent.act(one, key, run_id=run), runs))
    return told


@pytest.mark.parametrize("size", [2, CROWD, pytest.param(50, marks=pytest.mark.thorough)])
def test_parallel_attempts_under_one_key_have_one_effect(agent: Agent, size: int) -> None:
    """Check 1, and AG-08: one key, one body, so many agents; one side effect, one object for all, all on the record."""
    for ticket, answers in crowd_of(agent, size).items():
        assert agent.effects(ticket) == 1
        objects = {str(one.response) for one in answers if isinstance(one, ActionAnswer)}
        assert (len(answers), len(objects)) == (size, 1)
        seen = agent.client.actions.get(ticket).transport_attempts
        assert {one.run_id for one in seen} == {f"run-{number}" for number in range(size)}
        assert [one.came_to for one in seen].count("created") <= 1


def test_a_repeat_after_success_is_the_same_object_and_a_changed_body_a_conflict(agent: Agent) -> None:
    """Checks 2 and 3: nothing more is sent for either."""

    def repeat(promise: str) -> None:
        ticket = a_ticket(promise)
        first = agent.act(promise, ticket)
        again, changed = agent.post(promise, ticket), agent.post(promise, ticket, title="Delete all")
        assert isinstance(first, ActionAnswer)
        assert (again.status_code, again.headers["idempotent-replayed"]) == (200, "true")
        assert again.json()["response"] == first.model_dump(mode="json")["response"]
        assert again.json()["job_id"] == first.job_id
        assert (changed.status_code, changed.json()["code"]) == (409, "idempotency_key_reused")
        assert changed.headers["x-should-retry"] == "false"
        assert agent.effects(ticket) == 1

    for_each(repeat)


def test_a_client_that_stops_waiting_and_repeats_has_one_effect_and_its_answer(agent: Agent) -> None:
    """Check 4: the work goes on without it, and in the meantime a repeat is told how long to wait."""
    tracker = agent.stack.tracker

    def leave_and_come_back(promise: str) -> None:
        ticket = a_ticket(promise)
        tracker.behave(text=ticket, stage="after", hold=ticket)
        agent.post(promise, ticket)
        until(lambda: tracker.counts()["held"].get(ticket) or None, f"{ticket} is held", PATIENCE_WITH_STARTS)
        early = agent.post(promise, ticket)
        tracker.release(ticket)
        told = agent.act(promise, ticket)
        assert (early.status_code, early.json()["code"]) == (409, "operation_in_progress")
        assert 1 <= int(early.headers["retry-after"]) <= 60
        assert agent.effects(ticket) == 1
        # Held longer than its time the answer was lost, and nobody can ask the fourth kind.
        assert isinstance(told, ActionAnswer) or (promise == "nothing" and isinstance(told, ActionParked))

    for_each(leave_and_come_back)


def test_a_worker_killed_before_the_side_effect_is_followed_by_another(agent: Agent) -> None:
    """Check 5: after the lease another continues. Where nothing is promised it must have died before the journal."""

    def lose(promise: str) -> None:
        ticket, place = a_ticket(promise), "before_sent" if promise == "nothing" else "after_sent"
        told = agent.act(promise, ticket, title=f"Check [[kill {place}]]")
        assert isinstance(told, ActionAnswer)
        assert agent.effects(ticket) == 1

    for_each_loss(lose)


def test_a_worker_killed_after_the_call_leaves_an_outcome_that_is_found_out(agent: Agent) -> None:
    """Check 6: by key, natural key or lookup; with none of these: parked, a dead letter, no second call."""

    def lose(promise: str) -> None:
        ticket = a_ticket(promise)
        told = agent.act(promise, ticket, title="Check [[kill before_item]]")
        assert agent.effects(ticket) == 1
        if promise != "nothing":
            assert isinstance(told, ActionAnswer)
            return
        assert isinstance(told, ActionParked)
        until(lambda: agent.stack.letter_of(told.action.job_id), f"{ticket} has a dead letter")

    for_each_loss(lose)


def test_an_approval_is_waited_for_and_then_sent_once(agent: Agent) -> None:
    """Nothing is sent before an operator approves exactly these arguments."""
    ticket = a_ticket("approved")
    waiting = agent.post("approved", ticket).json()
    before = agent.effects(ticket)
    agent.client.actions.approve(ticket, waiting["fingerprint"], "checked")
    told = agent.act("approved", ticket)

    assert (waiting["status"], waiting["waiting_for"], before) == ("waiting", "approval", 0)
    assert isinstance(told, ActionAnswer)
    assert agent.effects(ticket) == 1
    assert [one.word for one in agent.client.actions.get(ticket).words] == ["approve"]
