"""The alarms as a table: what is watched, from when on somebody should look, and where the guide says what to do.

Each alarm's name is its runbook's: ``docs/operations.md`` has a heading for each, and ``tests/infra`` finds it, and
finds each metric of ours in the lines that the functions write. No metric math: the local cloud knows none, and one
metric says by itself what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.config import StageConfig
from infra.parts.function import METRICS_NAMESPACE

GUIDE = "docs/operations.md"
MICRO = 1_000_000  # micro-USD of a dollar
HOUR, FIVE_MINUTES = 3600, 300
SILENCE_IS_GOOD = cloudwatch.TreatMissingData.NOT_BREACHING
SILENCE_IS_BAD = cloudwatch.TreatMissingData.BREACHING


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """The names that AWS's own metrics are found by."""

    stage: str
    api_id: str
    api_function: str
    worker_function: str
    sweeper_function: str
    jobs_queue: str
    dead_letters: str
    jobs_table: str
    accounts_table: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """One alarm: it rings when the statistic was at or above ``at``, or ``below`` it, in so many periods."""

    name: str
    why: str
    metric: cloudwatch.Metric
    at: float
    periods: int = 1
    below: bool = False
    missing: cloudwatch.TreatMissingData = SILENCE_IS_GOOD

    @property
    def runbook(self) -> str:
        """Where the guide says what to do."""
        return f"{GUIDE}#alarm-{self.name}"


def own(watched: Watched, function: str, name: str, statistic: str, seconds: int = FIVE_MINUTES) -> cloudwatch.Metric:
    """A metric that one of our functions writes."""
    dimensions = {"stage": watched.stage, "service": f"onceward-{function}"}
    return _metric(METRICS_NAMESPACE, name, statistic, seconds, dimensions)


def of_aws(
    service: str, name: str, statistic: str, dimensions: Mapping[str, str], seconds: int = FIVE_MINUTES
) -> cloudwatch.Metric:
    """A metric that a service of AWS writes by itself."""
    return _metric(f"AWS/{service}", name, statistic, seconds, dimensions)


def alarms_of(watched: Watched, config: StageConfig) -> tuple[Alarm, ...]:
    """All of them. Ten alarms are free in an account; each further one costs ten cents a month."""
    return (*_of_waiting(watched, config), *_of_calls(watched, config), *_of_functions(watched, config))


def _of_waiting(watched: Watched, config: StageConfig) -> tuple[Alarm, ...]:
    """Jobs that nobody takes, or that wait for a person."""
    return (
        Alarm(
            name="dead-letters",
            why="A job ended exhausted, waits for a person, or a message could not be read.",
            # What is in the queue, not what was sent: a message that SQS moves is not counted as sent.
            metric=of_aws("SQS", "ApproximateNumberOfMessagesVisible", "Maximum", {"QueueName": watched.dead_letters}),
            at=1,
        ),
        Alarm(
            name="queue-age",
            why="Jobs wait in the queue and no worker takes them.",
            metric=of_aws("SQS", "ApproximateAgeOfOldestMessage", "Maximum", {"QueueName": watched.jobs_queue}),
            at=config.queue_age_alarm_seconds,
            periods=3,
        ),
        Alarm(
            name="review-age",
            why="A job has waited for a person's decision for too long.",
            metric=own(watched, "sweeper", "review_age", "Maximum"),
            at=config.review_age_alarm_hours * HOUR,
        ),
        Alarm(
            name="sweeper-silent",
            why="The sweeper does not run: lost messages and ended leases wake nobody.",
            metric=of_aws("Lambda", "Invocations", "Sum", {"FunctionName": watched.sweeper_function}),
            at=1,
            below=True,
            periods=2,
            missing=SILENCE_IS_BAD,
        ),
    )


def _of_calls(watched: Watched, config: StageConfig) -> tuple[Alarm, ...]:
    """What goes wrong at providers, and what it costs."""
    return (
        Alarm(
            name="unknown-outcomes",
            why="Calls end without an answer: each may have been paid for.",
            metric=own(watched, "worker", "provider_unknown_outcomes", "Sum", HOUR),
            at=config.unknown_outcomes_alarm,
        ),
        Alarm(
            name="takeovers",
            why="Workers die in the middle of jobs: others take them over when their leases end.",
            metric=own(watched, "worker", "lease_expired_count", "Sum", HOUR),
            at=config.takeovers_alarm,
        ),
        Alarm(
            name="spending",
            why="More was spent at providers in an hour, or may have been, than the stage's budget.",
            metric=own(watched, "worker", "provider_spend_high", "Sum", HOUR),
            at=config.hourly_spend_alarm_usd * MICRO,
        ),
        Alarm(
            name="breaker",
            why="A provider's model does not answer; nothing is sent there for a while.",
            metric=own(watched, "worker", "breaker_opened", "Sum"),
            at=1,
        ),
    )


def _of_functions(watched: Watched, config: StageConfig) -> tuple[Alarm, ...]:
    """What clients and workers feel."""
    return (
        Alarm(
            name="api-errors",
            why="The API answers 5xx.",
            metric=of_aws("ApiGateway", "5xx", "Sum", {"ApiId": watched.api_id, "Stage": "$default"}),
            at=config.api_errors_alarm,
        ),
        Alarm(
            name="create-latency",
            why="Creating a job takes long.",
            metric=own(watched, "api", "create_time", "p95"),
            at=config.create_latency_alarm_seconds,
            periods=3,
        ),
        Alarm(
            name="worker-errors",
            why="Workers fail or run out of their time as a whole; a job that fails is no such error.",
            metric=of_aws("Lambda", "Errors", "Sum", {"FunctionName": watched.worker_function}),
            at=3,
        ),
        Alarm(
            name="throttles",
            why="Requests are turned away because the account's concurrency is used up.",
            metric=of_aws("Lambda", "Throttles", "Sum", {"FunctionName": watched.api_function}),
            at=1,
        ),
    )


def add_alarm(scope: Construct, alarm: Alarm, topic: sns.Topic) -> cloudwatch.Alarm:
    """Make one, with its runbook in its description, and let it ring the topic."""
    comparison = cloudwatch.ComparisonOperator
    made = cloudwatch.Alarm(
        scope,
        "".join(part.title() for part in alarm.name.split("-")),
        metric=alarm.metric,
        threshold=alarm.at,
        evaluation_periods=alarm.periods,
        comparison_operator=(
            comparison.LESS_THAN_THRESHOLD if alarm.below else comparison.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
        ),
        treat_missing_data=alarm.missing,
        alarm_description=f"{alarm.why} Runbook: {alarm.runbook}",
    )
    made.add_alarm_action(actions.SnsAction(topic))
    return made


def _metric(
    namespace: str, name: str, statistic: str, seconds: int, dimensions: Mapping[str, Any]
) -> cloudwatch.Metric:
    """One metric, so often."""
    return cloudwatch.Metric(
        namespace=namespace,
        metric_name=name,
        statistic=statistic,
        period=cdk.Duration.seconds(seconds),
        dimensions_map=dict(dimensions),
    )
