"""The state stack: tables, bucket and secret, and what outlives a destroy."""

from typing import Any

import pytest

from onceward.domain.timing import JOB_LIFE
from tests.infra.templates import Assembly, Template, only, properties, resources

HOLDERS = ("AWS::DynamoDB::GlobalTable", "AWS::S3::Bucket", "AWS::SecretsManager::Secret")


def test_logical_ids_of_what_holds_data_are_pinned(assembly: Assembly) -> None:
    """CloudFormation replaces a resource whose logical id changes: a rename would be a new, empty table."""
    held = {name for kind in HOLDERS for name in resources(assembly.state("prod"), kind)}
    pools = set(resources(assembly.service("prod"), "AWS::Cognito::UserPool"))

    tables = {"JobsDF1CC2D4", "AccountsBE8A900E", "Flights80E3986D"}
    assert tables | {"Bucket83908E77", "AccessLogs8B620ECA", "ModelSecret"} == held
    assert {"IdentityPool9E5AED46"} == pools


def test_jobs_table_has_the_keys_and_indexes_of_the_protocol(state: Template) -> None:
    """The due index finds what must wake, the tenant index lists; both hold keys only."""
    jobs = only(state, "AWS::DynamoDB::GlobalTable", "Jobs")
    indexes = {index["IndexName"]: index for index in jobs["GlobalSecondaryIndexes"]}

    assert _keys("pk", "sk") == jobs["KeySchema"]
    assert {"due": _keys("due_shard", "due"), "by_tenant": _keys("tenant_id", "created_key")} == {
        name: index["KeySchema"] for name, index in indexes.items()
    }
    assert all(index["Projection"] == {"ProjectionType": "KEYS_ONLY"} for index in indexes.values())
    assert {attribute["AttributeName"]: attribute["AttributeType"] for attribute in jobs["AttributeDefinitions"]} == {
        "pk": "S",
        "sk": "S",
        "due_shard": "S",
        "due": "N",
        "tenant_id": "S",
        "created_key": "S",
    }
    assert jobs["StreamSpecification"] == {"StreamViewType": "NEW_AND_OLD_IMAGES"}


@pytest.mark.parametrize("name", ["Accounts", "Flights"])
def test_other_tables_have_keys_alone(state: Template, name: str) -> None:
    """Money and flights are read by their keys; nothing lists them."""
    table = only(state, "AWS::DynamoDB::GlobalTable", name)

    assert _keys("pk", "sk") == table["KeySchema"]
    assert "GlobalSecondaryIndexes" not in table


@pytest.mark.failure_mode("F84")
@pytest.mark.parametrize("name", ["Jobs", "Accounts", "Flights"])
def test_tables_cost_nothing_at_rest_and_can_be_restored(state: Template, name: str) -> None:
    """On demand, PITR, DynamoDB's own key, TTL under the one name that items are born with."""
    table = only(state, "AWS::DynamoDB::GlobalTable", name)
    (replica,) = table["Replicas"]

    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert table["SSESpecification"] == {"SSEEnabled": False}  # off means AWS-owned, not unencrypted
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}
    assert replica["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}


@pytest.mark.parametrize("stage", ["dev", "local", "prod"])
def test_buckets_are_private_encrypted_and_tls_only(assembly: Assembly, stage: str) -> None:
    """Both buckets: nobody from outside, nothing in the clear."""
    template = assembly.state(stage)
    refusing = [
        statement["Resource"][0]["Fn::GetAtt"][0]
        for policy in properties(template, "AWS::S3::BucketPolicy")
        for statement in policy["PolicyDocument"]["Statement"]
        if (statement["Effect"], statement["Action"], statement.get("Condition"))
        == ("Deny", "s3:*", {"Bool": {"aws:SecureTransport": "false"}})
    ]

    assert sorted(resources(template, "AWS::S3::Bucket")) == sorted(refusing)
    for bucket in properties(template, "AWS::S3::Bucket"):
        assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
        assert bucket["OwnershipControls"]["Rules"] == [{"ObjectOwnership": "BucketOwnerEnforced"}]
        (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
        assert rule["ServerSideEncryptionByDefault"] == {"SSEAlgorithm": "AES256"}


def test_objects_live_as_long_as_the_rows_that_name_them(state: Template) -> None:
    """90 days for both prefixes; versions and broken uploads leave nothing behind that is billed for ever."""
    bucket = only(state, "AWS::S3::Bucket", "Bucket")
    rules = {rule["Id"]: rule for rule in bucket["LifecycleConfiguration"]["Rules"]}

    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    assert {name: (rules[name]["Prefix"], rules[name]["ExpirationInDays"]) for name in ("documents", "jobs")} == {
        "documents": ("documents/", 90),
        "jobs": ("jobs/", 90),
    }
    assert rules["leftovers"] == {
        "Id": "leftovers",
        "Status": "Enabled",
        "NoncurrentVersionExpiration": {"NoncurrentDays": 7},
        "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1},
        "ExpiredObjectDeleteMarker": True,
    }


def test_an_object_outlives_no_row_and_no_row_its_object(state: Template) -> None:
    """The rule's days are the job's life in the code: what a row names is there as long as the row is."""
    bucket = only(state, "AWS::S3::Bucket", "Bucket")
    days = {rule["ExpirationInDays"] for rule in bucket["LifecycleConfiguration"]["Rules"] if "Prefix" in rule}

    assert days == {JOB_LIFE.days}


def test_browsers_may_upload_from_configured_origins_only(assembly: Assembly) -> None:
    """No origin, no rule."""
    given = only(assembly.state("own"), "AWS::S3::Bucket", "Bucket")["CorsConfiguration"]["CorsRules"]

    assert [(rule["AllowedOrigins"], rule["AllowedMethods"]) for rule in given] == [(["https://app.example"], ["POST"])]
    assert "CorsConfiguration" not in only(assembly.state("dev"), "AWS::S3::Bucket", "Bucket")


def test_the_models_secret_is_born_without_a_value(state: Template) -> None:
    """Neither in the template nor random: a key that looks real would fail at the provider, not here."""
    secret = only(state, "AWS::SecretsManager::Secret")

    assert not {"SecretString", "GenerateSecretString"} & set(secret)


@pytest.mark.parametrize(
    ("stage", "policy", "protected"), [("dev", "Delete", False), ("local", "Delete", False), ("prod", "Retain", True)]
)
def test_a_destroy_takes_data_along_only_in_disposable_stages(
    assembly: Assembly, stage: str, policy: str, protected: bool
) -> None:
    """Deletion and replacement policies and deletion protection, of the user pool too."""
    held: list[Any] = [
        resource
        for template in (assembly.state(stage), assembly.service(stage))
        for kind in (*HOLDERS, "AWS::Cognito::UserPool")
        for resource in resources(template, kind).values()
    ]
    tables = properties(assembly.state(stage), "AWS::DynamoDB::GlobalTable")
    pool = only(assembly.service(stage), "AWS::Cognito::UserPool")

    assert {(policy, policy)} == {(resource["DeletionPolicy"], resource["UpdateReplacePolicy"]) for resource in held}
    assert [protected] * 3 == [table["Replicas"][0]["DeletionProtectionEnabled"] for table in tables]
    assert pool["DeletionProtection"] == ("ACTIVE" if protected else "INACTIVE")


def _keys(partition: str, sort: str) -> list[dict[str, str]]:
    return [{"AttributeName": partition, "KeyType": "HASH"}, {"AttributeName": sort, "KeyType": "RANGE"}]
