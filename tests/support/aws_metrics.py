"""What services of AWS write to CloudWatch by themselves, as data with their source: nobody here can emit it.

Only what these stacks watch is listed. ``dimensions``: each set by which a metric of the namespace is found; one that
is asked for by another set has no values, ever, and an alarm on it is silent for good.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_DOCS = "https://docs.aws.amazon.com"


@dataclass(frozen=True, slots=True, kw_only=True)
class Documented:
    """One namespace."""

    source: str
    names: frozenset[str]
    dimensions: tuple[frozenset[str], ...]


DOCUMENTED: Mapping[str, Documented] = {
    "AWS/SQS": Documented(
        source=f"{_DOCS}/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html",
        names=frozenset({"ApproximateAgeOfOldestMessage", "ApproximateNumberOfMessagesVisible"}),
        dimensions=(frozenset({"QueueName"}),),
    ),
    # Those of a REST API are called otherwise (5XXError, ApiName) and never come from an HTTP API.
    "AWS/ApiGateway": Documented(
        source=f"{_DOCS}/apigateway/latest/developerguide/http-api-metrics.html",
        names=frozenset({"4xx", "5xx", "Count", "IntegrationLatency", "Latency", "DataProcessed"}),
        dimensions=(frozenset({"ApiId"}), frozenset({"ApiId", "Stage"})),
    ),
    "AWS/Lambda": Documented(
        source=f"{_DOCS}/lambda/latest/dg/monitoring-metrics-types.html",
        names=frozenset({"Invocations", "Errors", "Throttles", "Duration"}),
        dimensions=(frozenset({"FunctionName"}),),
    ),
    # By its name alone a table's throttles are those of the table, and never those of its indexes.
    "AWS/DynamoDB": Documented(
        source=f"{_DOCS}/amazondynamodb/latest/developerguide/metrics-dimensions.html",
        names=frozenset({"ReadThrottleEvents", "WriteThrottleEvents", "TransactionConflict"}),
        dimensions=(frozenset({"TableName"}),),
    ),
}


def is_documented(namespace: str, name: str, dimensions: Iterable[str]) -> bool:
    """Whether AWS writes this metric, found by exactly these dimensions."""
    known = DOCUMENTED.get(namespace)
    return known is not None and name in known.names and frozenset(dimensions) in known.dimensions
