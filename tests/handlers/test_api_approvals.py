"""An action that needs approval: nothing is sent before a person has approved exactly these arguments."""

from __future__ import annotations

from datetime import timedelta

from onceward.domain.retry import ErrorClass
from onceward.domain.states import JobState, WaitingFor
from onceward.wire.canonical import action_fingerprint
from tests.support.action_world import ARGUMENTS, ActionWorld
from tests.support.actions import refused
from tests.support.api_world import an_event, ask, claims_of


def approved(world: ActionWorld, fingerprint: str | None = None, **more: str) -> int:
    """Approve what the operation shows; the answer's status."""
    shown = fingerprint or world.get(scope="ops").json["fingerprint"]
    return world.say("approve", fingerprint=shown, why="checked with the customer", **more).status


def test_it_waits_for_a_person_and_sends_nothing() -> None:
    """However often it is asked for, and however often a worker is woken."""
    world = ActionWorld(requires_approval=True)
    first = world.post()
    world.deliver(world.row.job_id)
    world.work()
    again = world.post()

    assert (first.status, first.json["status"], first.json["waiting_for"]) == (202, "waiting", "approval")
    assert (again.status, again.headers["retry-after"]) == (409, "60")
    assert (world.target.requests, world.row.attempts) == (0, 0)


def test_an_approval_lets_it_be_sent_once_and_is_on_record() -> None:
    """Who, when and why; approving twice is one approval."""
    world = ActionWorld(requires_approval=True)
    world.post()
    first, second = approved(world), approved(world)
    world.work()
    told = world.get().json

    assert (first, second, world.effects, told["status"]) == (202, 202, 1, "succeeded")
    assert [(one["word"], one["by"], one["why"]) for one in told["words"]] == [
        ("approve", "client-acme", "checked with the customer")
    ]


def test_an_approval_is_bound_to_the_arguments_that_were_looked_at() -> None:
    """Another fingerprint approves nothing, and another payload under the operation is a conflict at the door."""
    world = ActionWorld(requires_approval=True)
    world.post()
    swapped = world.post(arguments={**ARGUMENTS, "title": "Delete all"})
    other = world.say("approve", fingerprint="0" * 64, why="x")
    world.work()

    assert (swapped.status, swapped.json["code"]) == (409, "idempotency_key_reused")
    assert (other.status, other.json["code"]) == (409, "fingerprint_mismatch")
    assert (world.row.state, world.target.requests) == (JobState.WAITING, 0)


def test_who_approves_sees_the_arguments_that_the_fingerprint_is_of() -> None:
    """As they were sent; an erased operation has none any more."""
    world = ActionWorld(requires_approval=True)
    job_id = world.post().json["job_id"]
    looked_at = world.get(scope="ops").json
    approved(world, looked_at["fingerprint"])
    world.work()
    ask(world.api, an_event("DELETE", f"/api/ai/jobs/{job_id}", claims=claims_of()))

    assert looked_at["arguments"] == ARGUMENTS
    assert looked_at["fingerprint"] == action_fingerprint(looked_at["action"], looked_at["arguments"])
    assert world.get(scope="ops").json["arguments"] is None


def test_an_agent_cannot_approve_its_own_action() -> None:
    """It takes the scope ``ops``, and the operation's own tenant."""
    world = ActionWorld(requires_approval=True)
    world.post()
    fingerprint = world.get().json["fingerprint"]
    path = "/agent-actions/ticket-481%3Acreate-task%3Av1/approve"
    body = f'{{"fingerprint": "{fingerprint}", "why": "x"}}'
    foreign = ask(world.api, an_event("POST", path, body=body, claims=claims_of("globex", "ops")))

    assert approved(world, fingerprint, scope="actions:create_task") == 403
    assert foreign.status == 404
    assert world.row.state is JobState.WAITING


def test_a_cancel_ends_it_and_an_approval_then_comes_too_late() -> None:
    """Refusing is cancelling."""
    world = ActionWorld(requires_approval=True)
    job_id = world.post().json["job_id"]
    ask(world.api, an_event("POST", f"/api/ai/jobs/{job_id}/cancel", claims=claims_of()))
    late = world.say("approve", fingerprint=world.row.fingerprint, why="x")

    assert (late.status, late.json["code"]) == (409, "not_awaiting_approval")
    assert world.post().json["status"] == "cancelled"
    assert world.target.requests == 0


def test_what_nobody_approves_ends_at_its_deadline() -> None:
    """A closing run ends it, and sends nothing; an approval after the deadline is refused."""
    world = ActionWorld(requires_approval=True)
    world.post()
    world.world.clock.move(timedelta(days=7, seconds=1))
    late = world.say("approve", fingerprint=world.row.fingerprint, why="x")
    world.deliver(world.row.job_id)
    world.work()

    assert (late.status, late.json["code"]) == (409, "not_awaiting_approval")
    assert (world.row.state, world.row.error_code, world.target.requests) == (JobState.FAILED, "deadline_exceeded", 0)


def test_a_reset_of_what_nobody_approved_waits_for_an_approval_again() -> None:
    """Or a reset, which shows nobody the arguments, would stand in for one."""
    world = ActionWorld(requires_approval=True)
    world.post()
    world.world.clock.move(timedelta(days=7, seconds=1))
    world.deliver(world.row.job_id)
    world.work()
    reset = world.say("reset", epoch=1, why="forgotten")
    world.deliver(world.row.job_id)
    world.work()
    before = world.target.requests
    assert approved(world) == 202
    world.work()

    assert (reset.status, reset.json["status"], reset.json["waiting_for"], before) == (202, "waiting", "approval", 0)
    assert (world.row.state, world.row.epoch, world.effects) == (JobState.SUCCEEDED, 2, 1)
    assert [(one["word"], one["epoch"]) for one in world.get().json["words"]] == [("reset", 1), ("approve", 2)]


def test_an_approval_that_comes_late_lets_no_later_epoch_pass() -> None:
    """Heard once more after a reset it is the old word still; of an epoch that is not there it is none."""
    world = ActionWorld(requires_approval=True)
    world.target.before = [refused()]
    world.post()
    looked_at = world.row.fingerprint
    first = world.say("approve", fingerprint=looked_at, epoch=1, why="x")
    world.work()
    world.say("reset", epoch=1, why="the tracker was down")
    late = world.say("approve", fingerprint=looked_at, epoch=1, why="x")
    early = world.say("approve", fingerprint=looked_at, epoch=3, why="x")
    waiting = world.get()
    world.work()
    before = world.target.requests
    second = world.say("approve", fingerprint=looked_at, epoch=2, why="x")
    world.work()

    assert (first.status, late.status, late.json["waiting_for"], second.status) == (202, 202, "approval", 202)
    assert (early.status, early.json["code"], before) == (409, "not_awaiting_approval", 1)
    assert (waiting.json["status"], waiting.headers["retry-after"]) == ("waiting", "60")
    assert (world.row.state, world.row.epoch, world.effects) == (JobState.SUCCEEDED, 2, 1)


def test_a_redrive_waits_for_an_approval_again() -> None:
    """A dead letter says nothing of arguments; an exhausted job need not have been approved at all."""
    world = ActionWorld(requires_approval=True)
    world.post()
    approved(world)
    world.target.before = [refused("target_unavailable", ErrorClass.TRANSIENT)] * 5
    exhausted = world.rest()
    letter = world.world.queue.dead_letters[0]
    world.world.queue.put(letter)
    world.work()
    waiting, before = world.row, world.target.requests
    assert approved(world) == 202
    world.work()

    assert (exhausted.error_code, waiting.waiting_for, before) == ("attempts_exhausted", WaitingFor.APPROVAL, 5)
    assert (world.row.state, world.row.epoch, world.effects) == (JobState.SUCCEEDED, 2, 1)


def test_an_action_without_approval_cannot_be_approved() -> None:
    """There is nothing to wait for."""
    world = ActionWorld()
    world.post()
    answer = world.say("approve", fingerprint=world.row.fingerprint, why="x")

    assert (answer.status, answer.json["code"]) == (409, "not_awaiting_approval")
