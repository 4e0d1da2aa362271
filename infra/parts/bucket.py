"""Make the bucket for what is too large for a table: documents, and inputs, results and answers of jobs.

Private, TLS only, versioned (a job reads the very version that it was created with). Objects live as long as
the rows that name them, 90 days; a deleted or expired version is kept for a week more, to undo a mistake.
"""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.config import StageConfig

DOCUMENTS = "documents/"
JOBS = "jobs/"
KEPT = cdk.Duration.days(90)  # the retention of a job's row
UNDO = cdk.Duration.days(7)
ABANDONED = cdk.Duration.days(1)  # parts of an upload that was never completed are billed and cannot be seen
ACCESS_LOGS_KEPT = cdk.Duration.days(90)
PREFLIGHT_SECONDS = 3600


def data_bucket(scope: Construct, config: StageConfig) -> s3.Bucket:
    """Make the bucket, and the one that records who reached it."""
    return _closed_bucket(
        scope,
        "Bucket",
        config,
        versioned=True,
        access_logs=_closed_bucket(scope, "AccessLogs", config, rules=[s3.LifecycleRule(expiration=ACCESS_LOGS_KEPT)]),
        rules=[
            *(s3.LifecycleRule(id=prefix.strip("/"), prefix=prefix, expiration=KEPT) for prefix in (DOCUMENTS, JOBS)),
            s3.LifecycleRule(
                id="leftovers",
                noncurrent_version_expiration=UNDO,
                abort_incomplete_multipart_upload_after=ABANDONED,
                expired_object_delete_marker=True,
            ),
        ],
        cors=_browser_uploads(config),
    )


def _closed_bucket(
    scope: Construct,
    name: str,
    config: StageConfig,
    *,
    rules: list[s3.LifecycleRule],
    versioned: bool = False,
    access_logs: s3.IBucket | None = None,
    cors: list[s3.CorsRule] | None = None,
) -> s3.Bucket:
    """Make a bucket as all of ours are. CloudFormation never deletes one that still holds objects."""
    return s3.Bucket(
        scope,
        name,
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
        encryption=s3.BucketEncryption.S3_MANAGED,
        enforce_ssl=True,
        versioned=versioned,
        server_access_logs_bucket=access_logs,
        lifecycle_rules=rules,
        cors=cors,
        removal_policy=cdk.RemovalPolicy.RETAIN if config.protect else cdk.RemovalPolicy.DESTROY,
    )


def _browser_uploads(config: StageConfig) -> list[s3.CorsRule] | None:
    """Let pages of the configured origins post their upload forms; no origin, no rule."""
    if not config.cors_origins:
        return None
    return [
        s3.CorsRule(
            allowed_methods=[s3.HttpMethods.POST],
            allowed_origins=list(config.cors_origins),
            allowed_headers=["*"],
            exposed_headers=["ETag", "x-amz-version-id"],
            max_age=PREFLIGHT_SECONDS,
        )
    ]
