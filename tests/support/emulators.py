"""AWS for tests, on loopback: a ministack of their own, moto in this process, and the tables as the stack makes them.

ministack is for everything about concurrency, transactions and tokens. moto is quick and good for one thread at a
time: of two, both can win one conditional write, and a read can fail because a write changes its dictionary meanwhile.
So its requests are answered one after another here, and nothing about races is asked of it.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import boto3
import pytest
from botocore.awsrequest import AWSPreparedRequest
from botocore.config import Config
from moto import mock_aws
from moto.core.botocore_stubber import BotocoreStubber
from moto.core.common_types import TYPE_RESPONSE

from onceward.adapters.dynamodb.client import CONFIG
from onceward.adapters.dynamodb.table import Tables
from onceward.local.cloud import LocalCloud
from onceward.local.environment import REGION

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import GlobalSecondaryIndexTypeDef, KeySchemaElementTypeDef

_numbers = itertools.count(1)

_moto_answers = threading.RLock()
_answer = BotocoreStubber.process_request


def _answer_alone(self: BotocoreStubber, request: AWSPreparedRequest) -> TYPE_RESPONSE | None:
    """Answer one of moto's requests while no other is: a worker's threads ask several at once."""
    with _moto_answers:
        return _answer(self, request)


BotocoreStubber.process_request = _answer_alone  # type: ignore[method-assign]

KEYS: list[KeySchemaElementTypeDef] = [
    {"AttributeName": "pk", "KeyType": "HASH"},
    {"AttributeName": "sk", "KeyType": "RANGE"},
]
INDEXES: list[GlobalSecondaryIndexTypeDef] = [
    {
        "IndexName": name,
        "KeySchema": [{"AttributeName": hashed, "KeyType": "HASH"}, {"AttributeName": ranged, "KeyType": "RANGE"}],
        "Projection": {"ProjectionType": "KEYS_ONLY"},
    }
    for name, hashed, ranged in (("due", "due_shard", "due"), ("by_tenant", "tenant_id", "created_key"))
]


@pytest.fixture(scope="session")
def ministack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCloud]:
    """One emulated account for the whole session, empty at its start; tests take names of their own in it."""
    with LocalCloud(tmp_path_factory.mktemp("ministack")) as cloud:
        yield cloud


@pytest.fixture(scope="class")
def moto_aws() -> Iterator[None]:
    """An emulated account inside this process, for the tests of one class; they take names of their own in it."""
    with mock_aws():
        yield


def dynamodb_at(endpoint_url: str | None = None) -> DynamoDBClient:
    """The client as it is configured on AWS, but for its time limits; without an endpoint, moto's."""
    # A busy machine is no lost answer, and the user's proxy has no part in what happens on loopback.
    patient = Config(connect_timeout=30, read_timeout=30, proxies={})
    return boto3.client(
        "dynamodb",
        endpoint_url=endpoint_url,
        region_name=REGION,
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=CONFIG.merge(patient),
    )


def make_tables(client: DynamoDBClient) -> Tables:
    """Make all tables under new names, without TTL: the tests' clock is not the emulator's.

    ``tests/infra`` asserts that the stack's tables have these keys and indexes.
    """
    number = next(_numbers)
    tables = Tables(jobs=f"jobs-{number}", accounts=f"accounts-{number}", flights=f"flights-{number}")
    string, due = ("pk", "sk", "due_shard", "tenant_id", "created_key"), "due"
    client.create_table(
        TableName=tables.jobs,
        KeySchema=KEYS,
        AttributeDefinitions=[
            *({"AttributeName": name, "AttributeType": "S"} for name in string),  # type: ignore[list-item]
            {"AttributeName": due, "AttributeType": "N"},
        ],
        GlobalSecondaryIndexes=INDEXES,
        BillingMode="PAY_PER_REQUEST",
    )
    for plain in (tables.accounts, tables.flights):
        client.create_table(
            TableName=plain,
            KeySchema=KEYS,
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
            BillingMode="PAY_PER_REQUEST",
        )
    return tables
