"""Count what a story asks of AWS: requests of each service, and DynamoDB's capacity units as it reports them itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

READS = frozenset({"GetItem", "Query", "BatchGetItem", "Scan"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """DynamoDB's requests, its units of reading and writing, and the requests to SQS and S3.

    A write in a transaction counts double, an index adds its own.
    """

    dynamodb: int = 0
    read_units: float = 0
    write_units: float = 0
    sqs: int = 0
    s3: int = 0

    def __sub__(self, before: Spent) -> Spent:
        """What was spent since."""
        return Spent(**{one.name: getattr(self, one.name) - getattr(before, one.name) for one in fields(Spent)})

    def __add__(self, more: Spent) -> Spent:
        """Both together."""
        return Spent(**{one.name: getattr(self, one.name) + getattr(more, one.name) for one in fields(Spent)})


class RequestCount:
    """Listens to boto3 clients. ministack reports no units for a refused condition; AWS charges one."""

    def __init__(self, dynamodb: Any, sqs: Any, s3: Any) -> None:
        """Ask DynamoDB for the units with every request, and add everything up."""
        self.spent = Spent()
        dynamodb.meta.events.register("provide-client-params.dynamodb.*", self._ask)
        dynamodb.meta.events.register("after-call.dynamodb.*", self._add)
        sqs.meta.events.register("after-call.sqs.*", lambda **_: self._note(Spent(sqs=1)))
        s3.meta.events.register("after-call.s3.*", lambda **_: self._note(Spent(s3=1)))

    def _ask(self, params: dict[str, Any], **_: Any) -> dict[str, Any]:
        return {**params, "ReturnConsumedCapacity": "TOTAL"}

    def _add(self, parsed: Mapping[str, Any], model: Any, **_: Any) -> None:
        told = parsed.get("ConsumedCapacity", [])
        units = sum(float(one["CapacityUnits"]) for one in (told if isinstance(told, list) else [told]))
        is_read = model.name in READS
        self._note(Spent(dynamodb=1, read_units=units if is_read else 0, write_units=0 if is_read else units))

    def _note(self, one: Spent) -> None:
        self.spent += one
