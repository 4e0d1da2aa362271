"""Dashboard and alarms watch what is really written, ring somebody, and say what to do."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.infra.templates import Assembly, Template, properties
from tests.support.dashboard_body import searched, shown_metrics
from tests.support.metric_lines import metric_lines
from tests.support.metric_series import OWN, Series, alarmed, series_of, unfound, unwritten

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "operations.md"
RUNBOOK = re.compile(r"Runbook: docs/operations\.md#([a-z0-9-]+)$")
STAGE = "dev"
ANSWERED = {
    "dead-letters",
    "queue-age",
    "review-age",
    "unknown-outcomes",
    "takeovers",
    "spending",
    "breaker",
    "api-errors",
    "create-latency",
    "worker-errors",
    "sweeper-silent",
    "throttles",
}


@pytest.fixture(scope="module")
def observability(assembly: Assembly) -> Template:
    """The stack as it goes to AWS."""
    return assembly.observability(STAGE)


@pytest.fixture(scope="module")
def written() -> set[Series]:
    """Every series that the functions write in a scenario, as in this stage."""
    with pytest.MonkeyPatch.context() as patch:
        return series_of({**line, "stage": STAGE} for line in metric_lines(patch))


def alarms(template: Template) -> list[dict[str, Any]]:
    """All alarms."""
    return [dict(alarm) for alarm in properties(template, "AWS::CloudWatch::Alarm")]


def slugs() -> set[str]:
    """The anchors of the guide's headings, as its readers' sites make them."""
    headings = re.findall(r"^#+ (.+)$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_each_alarm_names_a_runbook_that_is_there(observability: Template) -> None:
    """Whoever is woken reads in the message where to look; no runbook is left without its alarm."""
    named = [RUNBOOK.search(alarm["AlarmDescription"]) for alarm in alarms(observability)]
    anchors = {found[1] for found in named if found is not None}

    assert None not in named
    assert anchors == {f"alarm-{name}" for name in ANSWERED}
    assert anchors == {slug for slug in slugs() if slug.startswith("alarm-")}


def test_each_alarm_s_metric_is_written_with_exactly_its_dimensions(
    observability: Template, written: set[Series]
) -> None:
    """Namespace, name and dimensions of ours stand in the functions' own lines; the others are AWS's."""
    watched = list(alarmed(alarms(observability)))

    assert len(watched) == len(ANSWERED)
    assert unwritten(watched, written) == []


def test_the_dashboard_s_metrics_are_written_too(observability: Template, written: set[Series]) -> None:
    """A graph of a name that nobody writes is empty for ever, and looks like peace."""
    shown = list(shown_metrics(dashboard_body(observability)))

    assert {name for namespace, name, _ in shown if namespace == OWN} >= {
        "provider_spend_high",
        "cost_per_accepted_job_bound",
        "review_age",
        "jobs_open",
        "lease_expired_count",
        "provider_unknown_outcomes",
        "attempts_per_job",
    }
    assert unwritten(shown, written) == []


def test_spending_is_searched_for_by_the_dimensions_it_is_written_with(
    observability: Template, written: set[Series]
) -> None:
    """The one graph that finds its series by a search: a deploy with another model needs no new dashboard."""
    searches = searched(dashboard_body(observability))

    assert searches == {(OWN, "provider_spend_high", frozenset({"model", "service", "stage"}))}
    assert unfound(searches, written) == []


def test_a_metric_of_another_name_or_dimension_is_told(written: set[Series]) -> None:
    """What these tests look with sees what is wrong: a name, a stage, one dimension too few, AWS's and ours."""
    dimensions = {"stage": STAGE, "service": "onceward-worker"}
    wrong = [
        (OWN, "breaker_opens", dimensions),
        (OWN, "breaker_opened", {**dimensions, "stage": "prod"}),
        (OWN, "breaker_opened", {"stage": STAGE}),
        ("AWS/Lambda", "Throttle", {"FunctionName": "worker"}),
        ("AWS/SQS", "ApproximateAgeOfOldestMessage", {"Queue": "jobs"}),
    ]

    assert unwritten([*wrong, (OWN, "breaker_opened", dimensions)], written) == wrong
    assert unfound({(OWN, "provider_spend_high", frozenset({"model"}))}, written) != []


def test_every_alarm_rings_the_topic_that_alarms_may_ring(observability: Template) -> None:
    """A topic's own policy replaces the default one: without its own sentence for alarms, nobody would hear them."""
    (policy,) = properties(observability, "AWS::SNS::TopicPolicy")
    statements = policy["PolicyDocument"]["Statement"]
    (topic,) = {json.dumps(alarm["AlarmActions"]) for alarm in alarms(observability)}
    (let_in,) = [one for one in statements if one["Effect"] == "Allow"]

    assert topic == json.dumps([let_in["Resource"]])
    assert let_in["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert let_in["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
    assert any(one["Effect"] == "Deny" and "SecureTransport" in json.dumps(one) for one in statements)


def test_somebody_is_told_by_mail_where_the_stage_says_so(assembly: Assembly) -> None:
    """Without an address the topic is there for whoever subscribes."""
    (told,) = properties(assembly.observability("own"), "AWS::SNS::Subscription")

    assert (told["Protocol"], told["Endpoint"]) == ("email", "ops@example.com")
    assert properties(assembly.observability("dev"), "AWS::SNS::Subscription") == []


def test_silence_rings_only_where_it_is_the_fault(observability: Template) -> None:
    """A stage at rest writes no metric: every alarm but the sweeper's takes that for good."""
    ringing = {alarm["MetricName"] for alarm in alarms(observability) if alarm["TreatMissingData"] != "notBreaching"}

    assert ringing == {"Invocations"}


def test_no_alarm_needs_metric_math(observability: Template) -> None:
    """The local cloud knows none; one metric each, so each can be found in the lines."""
    assert all("Metrics" not in alarm for alarm in alarms(observability))


def dashboard_body(template: Template) -> str:
    """The dashboard's body, references standing as text."""
    (dashboard,) = properties(template, "AWS::CloudWatch::Dashboard")
    body = dashboard["DashboardBody"]
    parts = body["Fn::Join"][1] if isinstance(body, dict) else [body]
    return "".join(part if isinstance(part, str) else "reference" for part in parts)
