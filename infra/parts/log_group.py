"""Make a log group that forgets: without one of ours, Lambda makes its own and keeps it for ever."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.config import LogDays, StageConfig

RETENTION: dict[LogDays, logs.RetentionDays] = {
    1: logs.RetentionDays.ONE_DAY,
    7: logs.RetentionDays.ONE_WEEK,
    14: logs.RetentionDays.TWO_WEEKS,
    30: logs.RetentionDays.ONE_MONTH,
    90: logs.RetentionDays.THREE_MONTHS,
    365: logs.RetentionDays.ONE_YEAR,
}


def log_group(scope: Construct, config: StageConfig) -> logs.LogGroup:
    """Make the scope's log group; it goes with its stack, for it holds no record that anybody is owed."""
    return logs.LogGroup(
        scope, "Logs", retention=RETENTION[config.log_retention_days], removal_policy=cdk.RemovalPolicy.DESTROY
    )
