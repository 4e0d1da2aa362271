"""The state stack: what must outlive every deploy of the code. It knows nothing of the service stack."""

from __future__ import annotations

import aws_cdk as cdk
from constructs import Construct

from infra.config import StageConfig
from infra.parts.bucket import data_bucket
from infra.parts.model_secret import model_secret
from infra.parts.tables import accounts_table, flights_table, jobs_table


class StateStack(cdk.Stack):
    """Tables, bucket and the model's secret of one stage."""

    def __init__(self, scope: Construct, config: StageConfig) -> None:
        """Make them; ``protect`` decides what a ``cdk destroy`` leaves behind."""
        super().__init__(
            scope,
            f"OncewardState-{config.stage}",
            description="Onceward: jobs, accounts, documents",
            termination_protection=config.protect,
        )
        self.jobs = jobs_table(self, config)
        self.accounts = accounts_table(self, config)
        self.flights = flights_table(self, config)
        self.bucket = data_bucket(self, config)
        self.model_secret = model_secret(self, config)
        self.model_secret_arn = self.model_secret.attr_id  # its reference is the ARN on AWS, and a mere name locally
        self.bucket_export = f"{self.stack_name}:BucketArn"
        self.export_value(self.bucket.bucket_arn, name=self.bucket_export)

        cdk.CfnOutput(self, "JobsTable", value=self.jobs.table_name)
        cdk.CfnOutput(self, "AccountsTable", value=self.accounts.table_name)
        cdk.CfnOutput(self, "FlightsTable", value=self.flights.table_name)
        cdk.CfnOutput(self, "BucketName", value=self.bucket.bucket_name).override_logical_id("Bucket")
        cdk.CfnOutput(self, "ModelSecretArn", value=self.model_secret_arn)
