"""The operator's way to AWS: whose account, which endpoint, and what a stage's stacks name in their outputs.

boto3 is imported here and only when a command needs it: the client's install has none.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from onceward.cli.access import Flags, described
from onceward.cli.exits import exit_code
from onceward.cli.show import say
from onceward.client import Misconfigured
from onceward.errors import OncewardError

if TYPE_CHECKING:
    import boto3


@dataclass(frozen=True, slots=True, kw_only=True)
class Aws:
    """An account and region with somebody's rights; ``endpoint`` of a local cloud, ``None`` for AWS's own."""

    session: boto3.Session
    endpoint: str | None = None

    @property
    def is_local(self) -> bool:
        """Whether this is the cloud of a ``make run``."""
        return self.endpoint is not None

    def outputs_of(self, stack: str, stage: str) -> Mapping[str, str]:
        """What a stack of a stage names in its outputs; raises ``Misconfigured``."""
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - see the module's docstring

        try:
            found = self.session.client("cloudformation").describe_stacks(StackName=f"{stack}-{stage}")["Stacks"]
        except (BotoCoreError, ClientError) as error:
            raise Misconfigured(f"cannot find the stage {stage}: {error}") from None
        return {one["OutputKey"]: one["OutputValue"] for one in found[0].get("Outputs", [])}


def find_aws(flags: Flags) -> Aws:
    """The account that the flags and the environment lead to; raises ``Misconfigured``."""
    try:
        import boto3  # noqa: PLC0415 - see the module's docstring
    except ModuleNotFoundError as error:
        raise Misconfigured(f"{error.name} is missing: pip install './onceward[operator]'") from None
    if flags.stack is not None:
        with described(flags.stack) as stack:
            session = boto3.Session("test", "test", region_name=str(stack["region"]))  # any keys open a local cloud
            return Aws(session=session, endpoint=str(stack["aws_endpoint_url"]))
    session = boto3.Session(region_name=os.environ.get("AWS_REGION"))  # boto3 alone does not read that variable
    if session.region_name is None:
        raise Misconfigured("no AWS region: set AWS_REGION, or choose a profile with AWS_PROFILE")
    return Aws(session=session)


@contextmanager
def told() -> Iterator[None]:
    """Whatever goes wrong becomes one line on stderr and an exit code of the table."""
    try:
        yield
    except OncewardError as error:
        say(f"onceward: {error}")
        raise typer.Exit(exit_code(error)) from None
