"""An action whose outcome nobody knows: what its worker really writes is what the stage's alarms really watch."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from datetime import timedelta
from typing import Any

import pytest
from aws_lambda_powertools import Logger

from onceward.domain.states import JobState
from onceward.handlers.meter import Meter
from onceward.handlers.sweeper import sweep_and_gauge
from onceward.handlers.worker import Worker
from onceward.usecases.deps import Deps
from onceward.usecases.sweep import Sweeper
from tests.infra.templates import Assembly, environment, properties
from tests.support.action_world import ActionWorld
from tests.support.actions import lost
from tests.support.api_world import FakeContext

STAGE = "dev"
A_DAY_AND_MORE = timedelta(hours=25)


class Environment:
    """A worker's execution environment over an agent's world."""

    stage = STAGE

    def __init__(self, world: ActionWorld) -> None:
        """Of this world."""
        self._world = world

    @property
    def deps(self) -> Deps:
        """The ports."""
        return self._world.deps()

    @property
    def run(self) -> Callable[[Coroutine[Any, Any, Any]], Any]:
        """A loop of its own."""
        return asyncio.run

    def invocation(self) -> AbstractContextManager[None]:
        """Nothing to end."""
        return nullcontext()


@pytest.fixture
def parked() -> ActionWorld:
    """An action of a target that promises nothing, whose answer will be lost."""
    world = ActionWorld("nothing")
    world.target.after = [lost()]
    with redirect_stdout(io.StringIO()):  # the API's own lines
        world.post()
    return world


def work(world: ActionWorld) -> None:
    """One event, through the worker's real handler."""
    records = [
        {
            "messageId": one.message_id,
            "receiptHandle": one.receipt,
            "body": one.body,
            "attributes": {"ApproximateReceiveCount": "1"},
        }
        for one in world.world.queue.receive()
    ]
    worker = Worker(Environment(world), Logger(service="parked-action"))
    worker({"Records": records}, FakeContext(remaining_ms=900_000))  # type: ignore[arg-type]  # what is read of it


def sweep(world: ActionWorld) -> None:
    """The sweeper, an hour later than a day; it gauges when an hour begins."""
    clock = world.world.clock
    clock.move(A_DAY_AND_MORE)
    clock.move(timedelta(hours=1) - timedelta(minutes=clock.now().minute, seconds=clock.now().second))
    clock.move(-timedelta(microseconds=clock.now().microsecond))
    sweeper = Sweeper(store=world.world.store, queue=world.world.queue, clock=clock, timing=world.timing)
    _, metrics = asyncio.run(sweep_and_gauge(sweeper))
    Meter(STAGE).publish(metrics)


def told(service: str, deed: Callable[[ActionWorld], None], world: ActionWorld, patch: pytest.MonkeyPatch) -> Any:
    """The embedded metrics of one invocation as CloudWatch takes them: value and dimensions by name."""
    patch.setenv("POWERTOOLS_SERVICE_NAME", f"onceward-{service}")
    with redirect_stdout(io.StringIO()) as out:
        deed(world)
    lines = [json.loads(line) for line in out.getvalue().splitlines() if '"_aws"' in line]
    return {
        metric["Name"]: (sum(line[metric["Name"]]), {name: line[name] for name in names})
        for line in lines
        for block in line["_aws"]["CloudWatchMetrics"]
        for names in block["Dimensions"]
        for metric in block["Metrics"]
    }


def alarm_on(assembly: Assembly, metric: str) -> Any:
    """The one alarm of the synthesised stage that watches a metric."""
    (found,) = [
        one
        for one in properties(assembly.observability(STAGE), "AWS::CloudWatch::Alarm")
        if one["MetricName"] == metric
    ]
    return found


def dimensions_of(alarm: Any) -> dict[str, Any]:
    """The names and values that an alarm's metric is found by."""
    return {one["Name"]: one["Value"] for one in alarm["Dimensions"]}


def test_a_parked_action_is_a_letter_in_the_queue_that_an_alarm_watches(
    parked: ActionWorld, assembly: Assembly, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One letter is enough, and it lies where the alarm looks: in the queue that the worker's settings name."""
    written = told("worker", work, parked, monkeypatch)
    alarm = alarm_on(assembly, "ApproximateNumberOfMessagesVisible")
    service = assembly.service(STAGE)
    exported = {one["Export"]["Name"]: one["Value"] for one in service["Outputs"].values() if "Export" in one}
    watched = exported[dimensions_of(alarm)["QueueName"]["Fn::ImportValue"]]

    assert (parked.row.state, written["jobs_parked"][0]) == (JobState.NEEDS_REVIEW, 1)
    assert watched == {
        "Fn::GetAtt": [environment(service, "Worker")["ONCEWARD_DEAD_LETTERS_QUEUE_URL"]["Ref"], "QueueName"]
    }
    assert len(parked.world.queue.dead_letters) >= alarm["Threshold"] == 1
    assert (alarm["ComparisonOperator"], alarm["EvaluationPeriods"]) == ("GreaterThanOrEqualToThreshold", 1)


def test_its_unknown_outcome_is_counted_where_the_alarm_on_many_of_them_looks(
    parked: ActionWorld, assembly: Assembly, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Namespace, name and dimensions are exactly the alarm's, or it would be silent for ever."""
    count, dimensions = told("worker", work, parked, monkeypatch)["provider_unknown_outcomes"]
    alarm = alarm_on(assembly, "provider_unknown_outcomes")

    assert (count, dimensions) == (1, dimensions_of(alarm))
    assert (alarm["Namespace"], alarm["Statistic"]) == ("Onceward", "Sum")


def test_one_that_nobody_decides_for_a_day_rings_again(
    parked: ActionWorld, assembly: Assembly, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its age, in seconds, at or above what the alarm is set to."""
    work(parked)
    age, dimensions = told("sweeper", sweep, parked, monkeypatch)["review_age"]
    alarm = alarm_on(assembly, "review_age")

    assert dimensions == dimensions_of(alarm)
    assert age >= alarm["Threshold"] == timedelta(days=1).total_seconds()
    assert parked.target.requests == 1
