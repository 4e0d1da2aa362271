"""What is planted is found, in each kind of place: without that, ``test_privacy.py`` could look at nothing and pass."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from tests.scenarios.stack import DeployedStack
from tests.scenarios.whereabouts import Held, in_metrics, in_queues, in_tables, sightings

PLANT = 'a canary that "nobody" else looks for'
NAME = "planted"


@contextmanager
def in_an_attempt(stack: DeployedStack) -> Iterator[None]:
    """An item that is to hold no content holds it."""
    table, key = stack.outputs["JobsTable"], {"pk": {"S": f"acme#{NAME}"}, "sk": {"S": "attempt#0001#0001"}}
    stack.dynamodb.put_item(TableName=table, Item={**key, "item": {"S": "attempt"}, "more": {"M": {"x": {"S": PLANT}}}})
    try:
        yield
    finally:
        stack.dynamodb.delete_item(TableName=table, Key=key)


@contextmanager
def in_a_message(stack: DeployedStack) -> Iterator[None]:
    """A message's own attribute holds it."""
    url = stack.sqs.create_queue(QueueName=NAME)["QueueUrl"]
    told = {"traceparent": {"DataType": "String", "StringValue": PLANT}}
    stack.sqs.send_message(QueueUrl=url, MessageBody="{}", MessageAttributes=told)
    try:
        yield
    finally:
        stack.sqs.delete_queue(QueueUrl=url)


@contextmanager
def in_a_metric(stack: DeployedStack) -> Iterator[None]:
    """A dimension's value is it; CloudWatch forgets no metric, and nobody else looks for this one."""
    dimensions = [{"Name": "tenant", "Value": PLANT}]
    stack.aws("cloudwatch").put_metric_data(
        Namespace=NAME, MetricData=[{"MetricName": "jobs", "Dimensions": dimensions, "Value": 1}]
    )
    yield


@contextmanager
def in_a_metric_line(stack: DeployedStack) -> Iterator[None]:
    """A line of the embedded format has it as a dimension."""
    logs, directive = stack.aws("logs"), {"Namespace": NAME, "Dimensions": [["tenant"]], "Metrics": [{"Name": "jobs"}]}
    line = json.dumps({"_aws": {"CloudWatchMetrics": [directive]}, "tenant": PLANT, "jobs": 1})
    logs.create_log_group(logGroupName=NAME)
    logs.create_log_stream(logGroupName=NAME, logStreamName=NAME)
    event = {"timestamp": int(time.time() * 1000), "message": line}
    logs.put_log_events(logGroupName=NAME, logStreamName=NAME, logEvents=[event])
    try:
        yield
    finally:
        logs.delete_log_group(logGroupName=NAME)


@pytest.mark.parametrize(
    ("plant", "look", "place"),
    [
        (in_an_attempt, in_tables, "attempt"),
        (in_a_message, in_queues, NAME),
        (in_a_metric, in_metrics, "stored metric"),
        (in_a_metric_line, in_metrics, "metric line"),
    ],
)
def test_what_is_planted_is_found(
    stack: DeployedStack,
    plant: Callable[[DeployedStack], AbstractContextManager[None]],
    look: Callable[[DeployedStack], Held],
    place: str,
) -> None:
    """By the kind of its place, and not before it is there."""
    sighting = f"{place}: {PLANT}"
    assert sighting not in sightings(look(stack), [PLANT])
    with plant(stack):
        assert sighting in sightings(look(stack), [PLANT])
