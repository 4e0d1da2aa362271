"""Make one Lambda function: every default of ours exists once, here.

Each function has a role of its own that may write its own log group and nothing else until it is allowed more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.config import StageConfig
from infra.parts.acknowledge import acknowledge
from infra.parts.bundle import Bundle
from infra.parts.log_group import log_group

METRICS_NAMESPACE = "Onceward"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What differs from function to function; memory is CPU as well."""

    handler: str
    timeout_seconds: int
    memory_mb: int
    quiet: bool = False  # drop the platform's own lines for each invocation


class Function(Construct):
    """One handler of the bundle with its role and its log group."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        config: StageConfig,
        bundle: Bundle,
        shape: Shape,
        environment: Mapping[str, str],
    ) -> None:
        """Make the function; it may do nothing but log."""
        super().__init__(scope, name)
        self.log_group = log_group(self, config)
        self.role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        self.log_group.grant_write(self.role)
        self.function = lambda_.Function(
            self,
            "Function",
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=bundle.architecture,
            code=bundle.code,
            handler=shape.handler,
            role=self.role,
            log_group=self.log_group,
            logging_format=lambda_.LoggingFormat.JSON,
            application_log_level_v2=lambda_.ApplicationLogLevel[_lambda_level(config.log_level)],
            system_log_level_v2=lambda_.SystemLogLevel.WARN if shape.quiet else lambda_.SystemLogLevel.INFO,
            timeout=cdk.Duration.seconds(shape.timeout_seconds),
            memory_size=shape.memory_mb,
            environment={
                **environment,
                "POWERTOOLS_SERVICE_NAME": f"onceward-{shape.handler.split('.')[-2].replace('_', '-')}",
                "POWERTOOLS_LOG_LEVEL": config.log_level,
                "POWERTOOLS_METRICS_NAMESPACE": METRICS_NAMESPACE,
            },
        )
        acknowledge(
            self.function, "L1", "Python 3.13 is supported to June 2029; one version for development and Lambda."
        )

    def allow(self, *actions: str, on: str) -> None:
        """Let the function do exactly these actions on one resource."""
        self.role.add_to_policy(iam.PolicyStatement(actions=list(actions), resources=[on]))

    def allow_keys(self, *actions: str, on: str, keys: Sequence[str]) -> None:
        """Let the function do these actions on items of one table whose partition key is like one of ``keys``.

        Only for actions that name a key: where a request has none, ``ForAllValues`` holds. A transaction is judged
        part by part, as the put or update that each part is.
        """
        condition = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": list(keys)}}
        self.role.add_to_policy(iam.PolicyStatement(actions=list(actions), resources=[on], conditions=condition))

    def allow_objects(self, *actions: str, bucket_export: str, prefix: str) -> None:
        """Let the function do these actions on the objects below one prefix of the exported bucket.

        The one wildcard that we accept. The bucket comes by the name of its export, so that cdk-nag's finding can
        be named exactly: any other wildcard in the same policy still fails the synthesis.
        """
        self.allow(*actions, on=f"{cdk.Fn.import_value(bucket_export)}/{prefix}*")
        finding = f"IAM5[Resource::{bucket_export}/{prefix}*]"
        acknowledge(self.role, finding, "Keys under the prefix are made per tenant and job; the actions are exact.")


def _lambda_level(level: str) -> str:
    """Translate a level of Python's logging into Lambda's word for it."""
    return {"WARNING": "WARN"}.get(level, level)
