"""Make the tables: jobs, the truth about every job; accounts, the truth about money; flights, who works for a key.

All are on demand (nothing to pay at rest), can be restored to any second of the last 35 days, and are
encrypted by keys that DynamoDB owns, which cost nothing.
"""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct

from infra.config import StageConfig

DUE_INDEX = "due"
TENANT_INDEX = "by_tenant"
ACCOUNT_KEYS = "account#*"  # budgets and books, tenant by tenant
TALLY_KEYS = "tally#*"  # what a tenant's limits have counted
CLIENT_KEYS = "client#*"  # which tenant a machine client acts for
SWITCHES_KEY = "switches"  # what an operator has switched off
BREAKERS_KEY = "breakers"  # circuit breakers, by provider and model
EXPIRES_AT = "expires_at"  # written once, at an item's birth; accounts and their entries never have it


def _string(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)


def _number(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.NUMBER)


def jobs_table(scope: Construct, config: StageConfig) -> dynamodb.TableV2:
    """Make the jobs table; its stream is on from the first day, for whoever will relay events."""
    keys_only = dynamodb.ProjectionType.KEYS_ONLY  # an index write costs its projection; readers fetch the base row
    return _table(
        scope,
        "Jobs",
        config,
        stream=dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
        indexes=[
            dynamodb.GlobalSecondaryIndexPropsV2(
                index_name=DUE_INDEX,
                partition_key=_string("due_shard"),
                sort_key=_number("due"),
                projection_type=keys_only,
            ),
            dynamodb.GlobalSecondaryIndexPropsV2(
                index_name=TENANT_INDEX,
                partition_key=_string("tenant_id"),
                sort_key=_string("created_key"),
                projection_type=keys_only,
            ),
        ],
    )


def accounts_table(scope: Construct, config: StageConfig) -> dynamodb.TableV2:
    """Make the accounts table: tenants' budgets, ledger entries, and which tenant a machine client acts for."""
    return _table(scope, "Accounts", config)


def flights_table(scope: Construct, config: StageConfig) -> dynamodb.TableV2:
    """Make the flights table: which hidden job works on a question now, and how many a tenant has under way."""
    return _table(scope, "Flights", config)


def _table(
    scope: Construct,
    name: str,
    config: StageConfig,
    *,
    stream: dynamodb.StreamViewType | None = None,
    indexes: list[dynamodb.GlobalSecondaryIndexPropsV2] | None = None,
) -> dynamodb.TableV2:
    """Make a table as all of ours are; ``protect`` decides whether a mistaken delete can reach it."""
    return dynamodb.TableV2(
        scope,
        name,
        partition_key=_string("pk"),
        sort_key=_string("sk"),
        billing=dynamodb.Billing.on_demand(),
        encryption=dynamodb.TableEncryptionV2.dynamo_owned_key(),
        point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
            point_in_time_recovery_enabled=True
        ),
        time_to_live_attribute=EXPIRES_AT,
        dynamo_stream=stream,
        global_secondary_indexes=indexes,
        deletion_protection=config.protect,
        removal_policy=cdk.RemovalPolicy.RETAIN if config.protect else cdk.RemovalPolicy.DESTROY,
    )
