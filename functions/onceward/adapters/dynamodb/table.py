"""What every store of a concern is given: a client, the tables' names, and threads to wait in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from onceward.adapters.aws_errors import translated
from onceward.adapters.threads import Threads

if TYPE_CHECKING:  # stubs are a tool of development; the bundle does not hold them
    from mypy_boto3_dynamodb.client import DynamoDBClient

SERVICE: Final = "dynamodb"
REFUSED: Final = "ConditionalCheckFailedException"
CANCELED: Final = "TransactionCanceledException"


@dataclass(frozen=True, slots=True)
class Tables:
    """The names of the deployment's tables; a function without rights to one of them names none."""

    jobs: str
    accounts: str = ""
    flights: str = ""


@dataclass(frozen=True, slots=True)
class Access:
    """The way to the tables. The client is thread-safe; one serves them all."""

    client: DynamoDBClient
    tables: Tables
    threads: Threads

    async def call[Result](self, operation: Callable[..., Result], /, **arguments: object) -> Result:
        """One request in a thread. A refused condition passes as it is; every other error is raised as ours.

        Catch it as ``ClientError``: the classes under ``client.exceptions`` are made at their first use, and of two
        threads that use them first, one raises a class that the other does not know.
        """
        with translated(SERVICE, REFUSED, CANCELED):
            return await self.threads.call(operation, **arguments)
