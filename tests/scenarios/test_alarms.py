"""The alarms and graphs that stand, against the metric lines that the deployed functions have logged.

No alarm may be deaf and no graph empty for good. One job for each trouble that somebody should hear of, then the logs.
"""

from __future__ import annotations

import json

import pytest

from onceward.domain.states import JobState, WaitingFor
from onceward.usecases.gauge_jobs import EVERY_MINUTES
from tests.scenarios.brown_out import broken, fall_ill, heal
from tests.scenarios.stack import DeployedStack, until
from tests.scenarios.witness import Witness
from tests.support.dashboard_body import searched, shown_metrics
from tests.support.metric_series import OWN, Series, alarmed, series_of, unfound, unwritten

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(1200)]

GAUGED = {"jobs_open", "jobs_in_review", "review_age"}
UNTIL_GAUGED = (EVERY_MINUTES + 2) * 60.0  # seconds: the sweeper counts at minutes of the clock


@pytest.fixture(scope="module")
def written(stack: DeployedStack, witness: Witness) -> set[Series]:
    """Every series of the session so far, which has seen each trouble."""
    left = troubled(witness)

    def look() -> set[Series] | None:
        stack.sweep()
        lines = [json.loads(line) for line in stack.log_lines() if '"_aws"' in line]
        found = series_of(lines)
        return found if {name for _, name, _ in found} >= GAUGED else None

    found = until(look, "the sweeper has counted what is open", UNTIL_GAUGED, pause=5)
    for job_id in left:
        witness.cancel(job_id)
        witness.when(job_id, lambda job: job.state is JobState.CANCELLED, "it has been cancelled")
    stack.lose_messages()
    stack.model.reset()
    witness.quiet()
    return found


def troubled(witness: Witness) -> list[str]:
    """A brown-out, a refusal, a lost worker, a cancel, a wait and a review; the last two are still there."""
    model = witness.stack.model
    model.reset()
    model.behave(text="<refused>", status=400)
    model.behave(text="<unheard>", drop="reset", stage="after")
    model.behave(text="<busy>", status=429, headers={"retry-after": "3600"})
    model.behave(text="<held>", hold="held")
    fall_ill(model, status=503)
    ids = broken(witness)
    heal(model)
    ids += [witness.created("test.ask", prompt) for prompt in ("<refused>", "Be lost. [[kill before_sent]]")]
    held = witness.created("test.patient", "<held>")
    until(lambda: witness.calls(held).requests or None, "it is asked")
    witness.cancel(held)
    waits, review = (witness.created("test.patient", prompt) for prompt in ("<busy>", "<unheard>"))
    witness.when(waits, lambda job: job.waiting_for is WaitingFor.RETRY, "it waits for an hour")
    for job_id in (*ids, held, review):
        witness.at_rest(job_id)
    return [waits, review]


def test_each_alarm_that_stands_can_hear(stack: DeployedStack, written: set[Series]) -> None:
    """CloudWatch's own word for what is watched; ours to the stage and function, the others by AWS's names."""
    alarms = stack.aws("cloudwatch").describe_alarms()["MetricAlarms"]

    assert {one["Namespace"] for one in alarms} > {OWN}
    assert {tuple(one["AlarmActions"]) for one in alarms} == {(stack.outputs["AlarmTopic"],)}
    assert unwritten(alarmed(alarms), written) == []


def test_each_graph_that_stands_shows_something(stack: DeployedStack, written: set[Series]) -> None:
    """Every metric of every widget of the dashboard, those in expressions and searches too."""
    body = stack.aws("cloudwatch").get_dashboard(DashboardName=stack.outputs["DashboardName"])["DashboardBody"]

    shown = list(shown_metrics(body))

    assert {namespace for namespace, _, _ in shown} > {OWN}
    assert unwritten(shown, written) == []
    assert searched(body)
    assert unfound(searched(body), written) == []
