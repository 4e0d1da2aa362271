"""What each function may do: exactly this. The same lists as ``infra/grants.py``, so that a change is made twice."""

import re
from collections import defaultdict
from datetime import timedelta
from fnmatch import fnmatchcase
from typing import Any

import pytest

from infra.parts.tables import ACCOUNT_KEYS, BREAKERS_KEY, CLIENT_KEYS, SWITCHES_KEY, TALLY_KEYS
from onceward.adapters.dynamodb.keys import account_key, breaker_key, client_key, entry_key, switches_key, tally_key
from onceward.domain.tally import Counted, Limit, tally_at
from tests.infra.templates import Assembly, properties, resources
from tests.support.builders import NOW, TENANT

# resource → actions. A resource is written as "<what CloudFormation refers to><path below it>", in the accounts table
# with the partition keys that are allowed behind it.
LOGS = {"logs:CreateLogStream", "logs:PutLogEvents"}
EXPECTED: dict[str, dict[str, set[str]]] = {
    "Api": {
        "Jobs": {
            "dynamodb:GetItem",
            "dynamodb:Query",
            "dynamodb:PutItem",
            "dynamodb:UpdateItem",
        },
        "Jobs/index/by_tenant": {"dynamodb:Query"},
        "Accounts account#*": {"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"},
        "Accounts tally#*": {"dynamodb:UpdateItem"},
        "Flights": {"dynamodb:UpdateItem"},
        "Bucket": {"s3:ListBucket", "s3:ListBucketVersions"},
        "Bucket/documents/*": {"s3:PutObject", "s3:GetObject", "s3:DeleteObjectVersion"},
        "Bucket/jobs/*": {"s3:PutObject", "s3:GetObject", "s3:DeleteObjectVersion"},
        "QueueJobs": {"sqs:SendMessage"},
    },
    "Worker": {
        "Jobs": {
            "dynamodb:GetItem",
            "dynamodb:Query",
            "dynamodb:PutItem",
            "dynamodb:UpdateItem",
        },
        "Accounts account#*": {"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"},
        "Accounts switches": {"dynamodb:GetItem"},
        "Accounts breakers": {"dynamodb:GetItem", "dynamodb:PutItem"},
        "Flights": {"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"},
        "Bucket": {"s3:ListBucket", "s3:ListBucketVersions"},
        "Bucket/documents/*": {"s3:GetObjectVersion"},
        "Bucket/jobs/*": {"s3:GetObject", "s3:PutObject", "s3:DeleteObjectVersion"},
        "QueueJobs": {
            "sqs:ReceiveMessage",
            "sqs:DeleteMessage",
            "sqs:ChangeMessageVisibility",
            "sqs:GetQueueAttributes",
        },
        "QueueDeadLetters": {"sqs:SendMessage"},
        "ModelSecret": {"secretsmanager:GetSecretValue"},
    },
    "Sweeper": {
        "Jobs": {"dynamodb:GetItem", "dynamodb:UpdateItem"},
        "Jobs/index/due": {"dynamodb:Query"},
        "QueueJobs": {"sqs:SendMessage"},
        "QueueDeadLetters": {"sqs:SendMessage"},
    },
    "TenantToken": {"Accounts client#*": {"dynamodb:GetItem"}},
}


@pytest.mark.failure_mode("F54")
@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize("stage", ["dev", "local"])
def test_each_function_may_do_exactly_what_it_does(assembly: Assembly, stage: str, name: str) -> None:
    """No action more, on no resource more; locally the same as on AWS."""
    assert {**EXPECTED[name], f"{name}FunctionLogs": LOGS} == _allowed(assembly, stage, name)


def test_roles_have_no_policy_but_their_own(assembly: Assembly) -> None:
    """No managed policy, no inline one, nobody but Lambda takes them on."""
    roles = properties(assembly.service("dev"), "AWS::IAM::Role")

    assert len(EXPECTED) == len(roles)
    for role in roles:
        assert not {"ManagedPolicyArns", "Policies"} & set(role)
        (statement,) = role["AssumeRolePolicyDocument"]["Statement"]
        assert statement["Principal"] == {"Service": "lambda.amazonaws.com"}


def test_allowed_keys_are_those_of_the_code() -> None:
    """Each kind of item lies where its grant says, and where no other grant reaches."""
    tally = tally_at(Limit(Counted.CREATES, 1, timedelta(minutes=1)), TENANT, NOW)
    keys = [
        account_key(TENANT),
        entry_key(TENANT, "x"),
        tally_key(tally),
        switches_key(),
        breaker_key("openai:m"),
        client_key("id"),
    ]
    expected = [ACCOUNT_KEYS, ACCOUNT_KEYS, TALLY_KEYS, SWITCHES_KEY, BREAKERS_KEY, CLIENT_KEYS]

    for key, own in zip(keys, expected, strict=True):
        assert [one for one in sorted(set(expected)) if fnmatchcase(key["pk"]["S"], one)] == [own]


def _allowed(assembly: Assembly, stage: str, name: str) -> dict[str, set[str]]:
    """Collect what the policies of a function's role allow, by resource."""
    allowed: defaultdict[str, set[str]] = defaultdict(set)
    template = assembly.service(stage)
    for policy in properties(template, "AWS::IAM::Policy"):
        (role,) = policy["Roles"]
        if not role["Ref"].startswith(f"{name}FunctionRole"):
            continue
        for statement in policy["PolicyDocument"]["Statement"]:
            assert statement["Effect"] == "Allow"
            for resource in _listed(statement["Resource"]):
                allowed[_spelt(resource) + _keys(statement)] |= set(_listed(statement["Action"]))
    assert any(role.startswith(f"{name}FunctionRole") for role in resources(template, "AWS::IAM::Role"))
    return dict(allowed)


def _keys(statement: dict[str, Any]) -> str:
    """Write the partition keys that a statement is limited to; any other condition is none of ours."""
    if "Condition" not in statement:
        return ""
    ((operator, given),) = statement["Condition"].items()
    assert (operator, list(given)) == ("ForAllValues:StringLike", ["dynamodb:LeadingKeys"])
    return "".join(f" {key}" for key in _listed(given["dynamodb:LeadingKeys"]))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _spelt(resource: Any) -> str:
    """Write an ARN expression as the logical name it refers to (without CDK's hash) and the path below it."""
    match resource:
        case {"Fn::Join": ["", [head, str(path)]]}:
            return _spelt(head) + path
        case {"Fn::GetAtt": [str(name), "Arn"]}:
            return _without_hash(name)
        case {"Fn::ImportValue": str(export)}:
            exported = export.partition(":")[2]
            inner = re.sub(r"^ExportsOutput(FnGetAtt|Ref)|(Arn|Id)[0-9A-F]{8}$|[0-9A-F]{8}$", "", exported)
            return "Bucket" if exported == "BucketArn" else _without_hash(inner)
        case _:
            pytest.fail(f"a resource that is no ARN of ours: {resource}")


def _without_hash(name: str) -> str:
    return re.sub(r"[0-9A-F]{8}$", "", name)
