"""The operator's way to jobs and their reviews: tables, bucket and queue of one deployment, with the rights of AWS.

boto3, the adapters and the kinds are imported here and only when a command needs them: the client's install has none.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from onceward.cli.access import Flags, described
from onceward.cli.aws import Aws, find_aws, told
from onceward.client import Misconfigured

if TYPE_CHECKING:
    from onceward.usecases.submit_job import Intake

STATE = ("JobsTable", "AccountsTable", "FlightsTable", "Bucket")  # outputs of the state stack
SERVICE = ("JobsQueueUrl",)  # and of the service stack
MAX_WHO = 256  # characters; an assumed role with its session, which tells the person, has up to 180
_UNSAFE = re.compile(r"[^A-Za-z0-9_.:@|/+=,-]")  # what no name of IAM has


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where everything of a deployment is."""

    jobs: str
    accounts: str
    flights: str
    bucket: str
    queue_url: str


@dataclass(frozen=True, slots=True)
class Desk:
    """The ports of an operator's stories."""

    ports: Intake
    aws: Aws

    def ask[Reply](self, story: Coroutine[Any, Any, Reply]) -> Reply:
        """Run a story to its end."""
        return asyncio.run(story)

    def who(self) -> str:
        """Who is asking, as AWS knows it: what a record says of a person is not for the person to say."""
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - see the module's docstring

        try:
            arn = self.aws.session.client("sts", endpoint_url=self.aws.endpoint).get_caller_identity()["Arn"]
        except (BotoCoreError, ClientError) as error:
            raise Misconfigured(f"AWS does not say who you are: {error}") from None
        return _UNSAFE.sub("_", arn)[:MAX_WHO]


@contextmanager
def desk(context: typer.Context, stage: str | None) -> Iterator[Desk]:
    """The desk; whatever goes wrong becomes one line on stderr and an exit code of the table."""
    with told():
        flags: Flags = context.obj
        aws = find_aws(flags)
        with _ports(aws, _places(aws, flags, stage)) as ports:
            yield Desk(ports, aws)


@contextmanager
def _ports(aws: Aws, places: Places) -> Iterator[Intake]:
    """Reach all of it; nothing is asked yet."""
    try:
        from onceward.adapters.dynamodb.client import CONFIG as DYNAMODB  # noqa: PLC0415 - see the module's docstring
        from onceward.adapters.dynamodb.store import DynamoStore  # noqa: PLC0415
        from onceward.adapters.dynamodb.table import Tables  # noqa: PLC0415
        from onceward.adapters.s3 import CONFIG as S3  # noqa: PLC0415
        from onceward.adapters.s3 import S3Blob  # noqa: PLC0415
        from onceward.adapters.sqs import CONFIG as SQS  # noqa: PLC0415
        from onceward.adapters.sqs import SqsQueue  # noqa: PLC0415
        from onceward.adapters.system import SystemClock, SystemIds, ThreadRunner  # noqa: PLC0415
        from onceward.domain.timing import Timing  # noqa: PLC0415
        from onceward.kinds.registered import KINDS  # noqa: PLC0415
        from onceward.usecases.submit_job import Intake  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise Misconfigured(f"{error.name} is missing: pip install './onceward[operator]'") from None
    clock, ids = SystemClock(), SystemIds()
    client = aws.session.client
    with ThreadRunner(4) as threads:
        tables = Tables(jobs=places.jobs, accounts=places.accounts, flights=places.flights)
        queue = client("sqs", endpoint_url=aws.endpoint, config=SQS)
        yield Intake(
            store=DynamoStore(
                client("dynamodb", endpoint_url=aws.endpoint, config=DYNAMODB), tables, threads, clock, ids
            ),
            blob=S3Blob(client("s3", endpoint_url=aws.endpoint, config=S3), threads, places.bucket),
            queue=SqsQueue(queue, threads, jobs_url=places.queue_url, dead_letters_url=None),
            clock=clock,
            ids=ids,
            registry=KINDS,
            timing=Timing(),
        )


def _places(aws: Aws, flags: Flags, stage: str | None) -> Places:
    """By a local stack's file, or by a stage's outputs."""
    if flags.stack is not None:
        with described(flags.stack) as stack:
            return Places(
                jobs=str(stack["tables"]["jobs"]),
                accounts=str(stack["tables"]["accounts"]),
                flights=str(stack["tables"]["flights"]),
                bucket=str(stack["bucket"]),
                queue_url=str(stack["queues"]["jobs"]),
            )
    if stage is None:
        raise Misconfigured("say which deployment: --stage, or --stack before the command")
    known = {**aws.outputs_of("OncewardState", stage), **aws.outputs_of("OncewardService", stage)}
    if not {*STATE, *SERVICE} <= set(known):
        raise Misconfigured(f"the stacks of the stage {stage} do not name all of its parts")
    jobs, accounts, flights, bucket = (known[name] for name in STATE)
    return Places(jobs=jobs, accounts=accounts, flights=flights, bucket=bucket, queue_url=known[SERVICE[0]])
