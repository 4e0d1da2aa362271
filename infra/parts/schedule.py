"""Run the sweeper every minute."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

EVERY = cdk.Duration.minutes(1)  # the finest rate of a rule; part of the bound on recovery


def sweep_every_minute(scope: Construct, sweeper: lambda_.Function) -> events.Rule:
    """Make the rule. A pass that failed or came late is dropped and not repeated: the next finds the same jobs due."""
    sweeper.configure_async_invoke(retry_attempts=0, max_event_age=EVERY)
    return events.Rule(
        scope,
        "SweepEveryMinute",
        schedule=events.Schedule.rate(EVERY),
        targets=[targets.LambdaFunction(sweeper, retry_attempts=0, max_event_age=EVERY)],
    )
