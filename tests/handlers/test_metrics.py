"""Metrics as the log shows them: lines of the embedded metric format, one for an invocation, no tenant in any."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from aws_lambda_powertools import Logger

from onceward.handlers.meter import Meter
from onceward.handlers.worker import Worker
from onceward.usecases.deps import Deps
from onceward.usecases.measuring import ENDS, TURNS, Metric, Unit, created_metrics
from onceward.usecases.measuring_flights import BOARDINGS
from onceward.wire.messages import wakeup_body
from tests.support.api_world import ApiWorld, FakeContext, create
from tests.support.builders import JOB_ID, TENANT
from tests.support.worker_world import WorkerWorld

GLOSSARY = (Path(__file__).parents[2] / "docs" / "glossary.md").read_text(encoding="utf-8")
USECASES = Path(__file__).parents[2] / "functions" / "onceward" / "usecases"
MEASURING = "".join((USECASES / name).read_text("utf-8") for name in ("measuring.py", "measuring_flights.py"))


class MemoryBatches:
    """An execution environment over memory."""

    def __init__(self) -> None:
        """One job of one kind."""
        self.world = WorkerWorld()
        asyncio.run(self.world.create())
        self.stage = "test"

    @property
    def deps(self) -> Deps:
        """The ports."""
        return self.world.deps()

    @property
    def run(self) -> Callable[[Coroutine[Any, Any, Any]], Any]:
        """A loop of its own."""
        return asyncio.run

    def invocation(self) -> AbstractContextManager[None]:
        """Nothing to end."""
        return nullcontext()

    def batch(self, *bodies: str) -> dict[str, Any]:
        """What SQS would hand over."""
        for body in bodies:
            self.world.queue.put(body)
        return {
            "Records": [
                {
                    "messageId": one.message_id,
                    "receiptHandle": one.receipt,
                    "body": one.body,
                    "attributes": {"ApproximateReceiveCount": "1"},
                }
                for one in self.world.queue.receive()
            ]
        }


def emf_lines(text: str) -> list[dict[str, Any]]:
    """The lines that CloudWatch would take metrics from."""
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return [line for line in lines if "_aws" in line]


def test_a_batch_is_one_line_with_all_its_values(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names, units and values as CloudWatch reads them, and dimensions that nobody's tenant can multiply."""
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "onceward-worker")
    batches = MemoryBatches()
    worker = Worker(batches, Logger(service="metrics-test"))
    event = batches.batch(wakeup_body(TENANT, JOB_ID), wakeup_body(TENANT, JOB_ID))
    worker(event, FakeContext(remaining_ms=900_000))  # type: ignore[arg-type]  # as Lambda calls it
    line, spent = emf_lines(capsys.readouterr().out)
    (told,) = line["_aws"]["CloudWatchMetrics"]

    assert (told["Namespace"], told["Dimensions"]) == ("Onceward", [["stage", "service"]])
    assert line["stage"] == "test"
    assert (line["jobs_accepted"], line["provider_attempts"], line["job_retry_rate"]) == ([1.0], [1.0], [0.0])
    assert {one["Name"]: one["Unit"] for one in told["Metrics"]}["queue_wait"] == "Seconds"
    assert TENANT not in json.dumps([line, spent])
    assert JOB_ID not in json.dumps([line, spent])


def test_spending_is_told_for_its_model_and_for_all(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line of its own with two sets of dimensions: an alarm watches the sum, a dashboard tells the models apart."""
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "onceward-worker")
    batches = MemoryBatches()
    Worker(batches, Logger(service="metrics-test"))(
        batches.batch(wakeup_body(TENANT, JOB_ID)),
        FakeContext(remaining_ms=900_000),  # type: ignore[arg-type]
    )
    spent = emf_lines(capsys.readouterr().out)[-1]
    (told,) = spent["_aws"]["CloudWatchMetrics"]

    assert sorted(map(sorted, told["Dimensions"])) == [["model", "service", "stage"], ["service", "stage"]]
    assert (spent["model"], spent["provider_spend_low"], spent["provider_spend_high"]) == (
        "fake:fake-1",
        [10.0],
        [10.0],
    )


def test_invocation_without_values_writes_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    """A duplicate's delivery, and an unreadable one."""
    batches = MemoryBatches()
    worker = Worker(batches, Logger(service="metrics-test"))
    batches.world.store.rows.clear()
    worker(batches.batch(wakeup_body(TENANT, JOB_ID), "no JSON"), FakeContext(remaining_ms=900_000))  # type: ignore[arg-type]

    assert emf_lines(capsys.readouterr().out) == []


def test_values_of_one_metric_are_kept_apart(capsys: pytest.CaptureFixture[str]) -> None:
    """Two jobs of a batch are two values, so that averages and counts are theirs; nothing is left for the next line."""
    meter = Meter("test")
    meter.publish([Metric("attempts_per_job", Unit.COUNT, 1), Metric("attempts_per_job", Unit.COUNT, 3)])
    meter.publish(created_metrics(0.5))
    first, second = emf_lines(capsys.readouterr().out)

    assert first["attempts_per_job"] == [1.0, 3.0]
    assert [one["Name"] for one in second["_aws"]["CloudWatchMetrics"][0]["Metrics"]] == ["jobs_created", "create_time"]


def test_every_metric_has_its_line_in_the_glossary() -> None:
    """A name that is written and not told would be guessed at."""
    written = {*re.findall(r'Metric\("(\w+)"', MEASURING), *ENDS.values(), *TURNS.values(), *BOARDINGS.values()}
    told = set(re.findall(r"^\| `(\w+)` \|", GLOSSARY, re.MULTILINE))

    assert told == written


def test_a_job_is_counted_once_however_often_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """``jobs_created`` is the API's, once for each create: a replay and a refusal add nothing."""
    api = ApiWorld().api()
    statuses = [create(api).status, create(api).status, create(api, body="{").status]
    counted = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"jobs_created"' in line]

    assert statuses == [202, 202, 400]
    assert [line["jobs_created"] for line in counted] == [[1.0]]
