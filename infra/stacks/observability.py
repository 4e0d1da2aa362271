"""The observability stack: one dashboard, the alarms, and the topic that they ring. It holds nothing and may go."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra.config import StageConfig
from infra.parts.alarms import Watched, add_alarm, alarms_of
from infra.parts.dashboard import add_dashboard
from infra.stacks.service import ServiceStack
from infra.stacks.state import StateStack


class ObservabilityStack(cdk.Stack):
    """What an operator looks at, and what wakes one."""

    def __init__(self, scope: Construct, config: StageConfig, state: StateStack, service: ServiceStack) -> None:
        """Make it over a stage's other stacks."""
        super().__init__(scope, f"OncewardObservability-{config.stage}", description="Onceward: dashboard and alarms")
        watched = Watched(
            stage=config.stage,
            api_id=service.http.api.api_id,
            api_function=service.api.function.function_name,
            worker_function=service.worker.function.function_name,
            sweeper_function=service.sweeper.function.function_name,
            jobs_queue=service.queue.jobs.queue_name,
            dead_letters=service.queue.dead_letters.queue_name,
            jobs_table=state.jobs.table_name,
            accounts_table=state.accounts.table_name,
        )
        topic = _topic(self, config)
        for alarm in alarms_of(watched, config):
            add_alarm(self, alarm, topic)
        dashboard = add_dashboard(self, watched)
        for name, value in (("AlarmTopic", topic.topic_arn), ("DashboardName", dashboard.dashboard_name)):
            cdk.CfnOutput(self, f"Output{name}", value=value).override_logical_id(name)


def _topic(scope: Construct, config: StageConfig) -> sns.Topic:
    """The topic: TLS only, and rung by this account's alarms alone.

    A policy of its own replaces the one that would have let them in. No key: alarms cannot use the one that AWS
    manages, a key of one's own costs a dollar a month, and a message holds an alarm's name and a number.
    """
    topic = sns.Topic(scope, "Alarms", enforce_ssl=True)
    topic.add_to_resource_policy(
        iam.PolicyStatement(
            sid="Alarms",
            principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
            actions=["sns:Publish"],
            resources=[topic.topic_arn],
            conditions={"StringEquals": {"aws:SourceAccount": cdk.Aws.ACCOUNT_ID}},
        )
    )
    if config.alarm_email is not None:
        topic.add_subscription(subscriptions.EmailSubscription(config.alarm_email))
    return topic
