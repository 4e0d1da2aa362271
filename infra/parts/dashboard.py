"""The dashboard: one screen that answers, from top to bottom, is it stuck, does it cost too much, does it break."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from infra.parts.alarms import HOUR, Watched, of_aws, own
from infra.parts.function import METRICS_NAMESPACE

WIDTH, HEIGHT = 8, 6  # three graphs in a row of 24
MINUTE = 60


def add_dashboard(scope: Construct, watched: Watched) -> cloudwatch.Dashboard:
    """Make it; the first three dashboards of an account are free."""
    dashboard = cloudwatch.Dashboard(scope, "Dashboard", default_interval=cdk.Duration.hours(12))
    for row in (_waiting(watched), _attempts(watched), _money(watched), _api(watched)):
        dashboard.add_widgets(*row)
    return dashboard


def _graph(title: str, *metrics: object, right: tuple[object, ...] = ()) -> cloudwatch.GraphWidget:
    """One graph."""
    return cloudwatch.GraphWidget(title=title, width=WIDTH, height=HEIGHT, left=list(metrics), right=list(right))


def _waiting(watched: Watched) -> tuple[cloudwatch.GraphWidget, ...]:
    """What waits: in the queue, in the tables, for a person, in the dead letters."""
    queue, letters = {"QueueName": watched.jobs_queue}, {"QueueName": watched.dead_letters}
    # Little's law: the seconds that runs took in a period, by the period's, is how many ran at once on average.
    running = cloudwatch.MathExpression(
        label="running",
        expression="FILL(spent, 0) / PERIOD(spent)",
        using_metrics={"spent": own(watched, "worker", "run_time", "Sum")},
    )
    waiting = cloudwatch.MathExpression(
        label="queued or waiting",
        expression="open - FILL(spent, 0) / PERIOD(spent)",
        using_metrics={
            "open": own(watched, "sweeper", "jobs_open", "Maximum"),
            "spent": own(watched, "worker", "run_time", "Sum"),
        },
    )
    return (
        _graph(
            "Queue: depth, and the oldest message's age",
            of_aws("SQS", "ApproximateNumberOfMessagesVisible", "Maximum", queue, MINUTE),
            right=(of_aws("SQS", "ApproximateAgeOfOldestMessage", "Maximum", queue, MINUTE),),
        ),
        _graph("Jobs: running, queued or waiting", running, waiting),
        _graph(
            "Reviews and dead letters",
            own(watched, "sweeper", "jobs_in_review", "Maximum"),
            of_aws("SQS", "ApproximateNumberOfMessagesVisible", "Maximum", letters),
            right=(own(watched, "sweeper", "review_age", "Maximum"),),
        ),
    )


def _attempts(watched: Watched) -> tuple[cloudwatch.GraphWidget, ...]:
    """How jobs end, how often they are tried, and what went wrong in between."""
    ends = ("jobs_accepted", "jobs_failed", "jobs_cancelled", "jobs_parked")
    troubles = ("provider_unknown_outcomes", "lease_expired_count", "breaker_opened", "breaker_stopped_sends")
    return (
        _graph("How jobs end", *(own(watched, "worker", name, "Sum") for name in ends)),
        _graph(
            "Attempts per job",
            own(watched, "worker", "attempts_per_job", "Average"),
            own(watched, "worker", "attempts_per_job", "Maximum"),
            right=(own(watched, "worker", "job_retry_rate", "Average"),),
        ),
        _graph("Unknown outcomes, takeovers, breakers", *(own(watched, "worker", name, "Sum") for name in troubles)),
    )


def _money(watched: Watched) -> tuple[cloudwatch.GraphWidget, ...]:
    """What is spent by model and hour, and what an accepted job costs; micro-USD."""
    search = (
        f'SEARCH(\'{{{METRICS_NAMESPACE},model,service,stage}} MetricName="provider_spend_high" '
        f"stage=\"{watched.stage}\"', 'Sum', {HOUR})"
    )
    by_model = cloudwatch.MathExpression(
        label="", expression=search, using_metrics={}, period=cdk.Duration.seconds(HOUR)
    )
    # All spending of an hour by the jobs accepted in it: what failed jobs cost is in it too.
    per_job = cloudwatch.MathExpression(
        label="all spending, per accepted job",
        expression="spent / accepted",
        using_metrics={
            "spent": own(watched, "worker", "provider_spend_high", "Sum", HOUR),
            "accepted": own(watched, "worker", "jobs_accepted", "Sum", HOUR),
        },
        period=cdk.Duration.seconds(HOUR),
    )
    costs = ("cost_per_accepted_job_low", "cost_per_accepted_job_high", "cost_per_accepted_job_bound")
    return (
        _graph("Spending by model and hour, at most (micro-USD)", by_model),
        _graph(
            "Cost per accepted job (micro-USD)",
            *(own(watched, "worker", name, "Average", HOUR) for name in costs),
            per_job,
        ),
        _graph(
            "Without a price",
            own(watched, "worker", "accepted_unpriced", "Sum", HOUR),
            own(watched, "worker", "provider_unpriced", "Sum", HOUR),
        ),
    )


def _api(watched: Watched) -> tuple[cloudwatch.GraphWidget, ...]:
    """What clients feel, and what is turned away."""
    gate = {"ApiId": watched.api_id, "Stage": "$default"}
    functions = (watched.api_function, watched.worker_function)
    return (
        _graph(
            "API: requests and errors", *(of_aws("ApiGateway", name, "Sum", gate) for name in ("Count", "4xx", "5xx"))
        ),
        _graph(
            "API: latency of all requests (long polls included), and of creates",
            of_aws("ApiGateway", "Latency", "p95", gate),
            right=(own(watched, "api", "create_time", "p95"),),
        ),
        _graph(
            "Throttles; conflicts of accounts",
            *(of_aws("Lambda", "Throttles", "Sum", {"FunctionName": name}) for name in functions),
            *(
                of_aws("DynamoDB", name, "Sum", {"TableName": table})
                for table in (watched.jobs_table, watched.accounts_table)
                for name in ("ReadThrottleEvents", "WriteThrottleEvents")
            ),
            # Writes of one tenant's account that met each other: the sign of a hot one, long before creates answer 503.
            right=(of_aws("DynamoDB", "TransactionConflict", "Sum", {"TableName": watched.accounts_table}),),
        ),
    )
