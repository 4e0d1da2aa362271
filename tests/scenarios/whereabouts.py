"""All that the local cloud keeps, by the kind of its place, and which of it holds a text that somebody looks for.

Every table, queue and metric of the account, not of one stage: whatever a scenario deployed is looked through too.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tests.scenarios.stack import DeployedStack
from tests.support.metric_series import Series, series_of

HIDDEN = 60  # seconds: longer than a look through a queue takes; what was received is put back after it

type Held = Mapping[str, str]  # kind of place -> all that stands in places of this kind


def sightings(held: Held, texts: Iterable[str]) -> list[str]:
    """Which kinds of places hold which texts, as they are or escaped as in JSON; a text is shown by its beginning."""
    forms = [(text, {text, json.dumps(text)[1:-1]}) for text in texts]
    return [
        f"{place}: {text[:60]}" for place, all_of_it in held.items() for text, form in forms if _has(all_of_it, form)
    ]


def _has(all_of_it: str, forms: Iterable[str]) -> bool:
    return any(form in all_of_it for form in forms)


def in_tables(stack: DeployedStack) -> Held:
    """All items with all attributes, keys too; the kind is what an item says it is, or how its sort key begins."""

    def all_items() -> Iterator[tuple[str, str]]:
        for table in stack.dynamodb.list_tables()["TableNames"]:
            for page in stack.dynamodb.get_paginator("scan").paginate(TableName=table, ConsistentRead=True):
                for item in page["Items"]:
                    kind = item.get("item", item["sk"])["S"].partition("#")[0]
                    yield kind, json.dumps(item, default=repr)

    return _together(all_items())


def objects(stack: DeployedStack) -> Iterator[tuple[str, str]]:
    """What is too large for an item: names and bodies of inputs, answers and results in the bucket."""
    s3, bucket = stack.aws("s3"), stack.outputs["Bucket"]
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix="jobs/"):
        for one in page.get("Contents", []):
            yield one["Key"], s3.get_object(Bucket=bucket, Key=one["Key"])["Body"].read().decode()


def in_queues(stack: DeployedStack) -> Held:
    """All messages that can be received now, bodies and attributes, by their queue's name; they stay there."""
    queues = stack.sqs.list_queues().get("QueueUrls", [])
    return {url.rpartition("/")[2]: "\n".join(_messages(stack, url)) for url in queues}


def _messages(stack: DeployedStack, url: str) -> list[str]:
    """One queue's messages; each is hidden until the last was seen."""
    wish = {"MaxNumberOfMessages": 10, "VisibilityTimeout": HIDDEN}
    seen: list[dict[str, Any]] = []
    while received := stack.sqs.receive_message(
        QueueUrl=url, AttributeNames=["All"], MessageAttributeNames=["All"], **wish
    ).get("Messages", []):
        seen += received
    for one in seen:
        stack.sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=one["ReceiptHandle"], VisibilityTimeout=0)
    return [json.dumps({**one, "Body": None}) + one["Body"] for one in seen]


def own_series(stack: DeployedStack) -> set[Series]:
    """The series that the functions' metric lines make, once CloudWatch takes them from the logs."""
    return series_of(json.loads(line) for line in stack.log_lines() if '"_aws"' in line)


def in_metrics(stack: DeployedStack) -> Held:
    """Names and dimensions of the functions' series, and of what CloudWatch itself has stored."""
    pages = stack.aws("cloudwatch").get_paginator("list_metrics").paginate()
    stored = [metric for page in pages for metric in page["Metrics"]]
    logged = [(namespace, name, dict(dimensions)) for namespace, name, dimensions in own_series(stack)]
    return {"stored metric": json.dumps(stored), "metric line": json.dumps(logged)}


def _together(found: Iterable[tuple[str, str]]) -> Held:
    by_kind: defaultdict[str, list[str]] = defaultdict(list)
    for kind, text in found:
        by_kind[kind].append(text)
    return {kind: "\n".join(texts) for kind, texts in by_kind.items()}
