"""The queues of one deployment, as an operator's command finds them: by a local stack's file or a stage's outputs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from onceward.cli.access import Flags, described
from onceward.cli.aws import Aws, find_aws, told
from onceward.client import Misconfigured

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

OUTPUTS = ("JobsQueueUrl", "DeadLettersQueueUrl")  # of the service stack


@dataclass(frozen=True, slots=True, kw_only=True)
class Queues:
    """Both queues, and whether SQS or a local cloud holds them."""

    client: SQSClient
    jobs_url: str
    dead_letters_url: str
    is_local: bool

    def arn_of(self, url: str) -> str:
        """A queue's ARN, which moves name queues by."""
        from onceward.adapters.aws_errors import translated  # noqa: PLC0415 - needs boto3, see ``cli/aws.py``

        with translated("sqs"):
            told_ = self.client.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
        return told_["Attributes"]["QueueArn"]


@contextmanager
def queues(context: typer.Context, stage: str | None) -> Iterator[Queues]:
    """The queues; whatever goes wrong becomes one line on stderr and an exit code of the table."""
    with told():
        flags: Flags = context.obj
        aws = find_aws(flags)
        jobs_url, dead_letters_url = _urls(aws, flags, stage)
        from onceward.adapters.sqs import CONFIG  # noqa: PLC0415 - needs boto3, see ``cli/aws.py``

        client = aws.session.client("sqs", endpoint_url=aws.endpoint, config=CONFIG)
        yield Queues(client=client, jobs_url=jobs_url, dead_letters_url=dead_letters_url, is_local=aws.is_local)


def _urls(aws: Aws, flags: Flags, stage: str | None) -> tuple[str, str]:
    """The addresses of the jobs queue and of the dead letters."""
    if flags.stack is not None:
        with described(flags.stack) as stack:
            return str(stack["queues"]["jobs"]), str(stack["queues"]["dead_letters"])
    if stage is None:
        raise Misconfigured("say which queues: --stage, or --stack before the command")
    outputs = aws.outputs_of("OncewardService", stage)
    if not set(OUTPUTS) <= set(outputs):
        raise Misconfigured(f"the stack of the stage {stage} names no queues")
    jobs, dead = OUTPUTS
    return outputs[jobs], outputs[dead]
