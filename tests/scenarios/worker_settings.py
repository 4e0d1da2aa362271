"""What a deployed function is told and how the worker is fed, changed for some tests and put back after them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.scenarios.stack import DeployedStack, until
from tests.scenarios.witness import Witness


@contextmanager
def told(
    witness: Witness, *, function: str = "WorkerFunction", while_waiting: bool = False, **changed: str
) -> Iterator[None]:
    """Run a function with other variables.

    Nothing may be under way when they change: the local cloud ends running processes then, which AWS does not.
    ``while_waiting``: messages of jobs that wait may be there all the same.
    """
    stack = witness.stack
    functions, name = stack.aws("lambda"), stack.outputs[function]
    usual = functions.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
    if changed.items() <= usual.items():
        yield
        return
    if not while_waiting:
        witness.quiet()
    _tell(functions, name, {**usual, **changed})
    try:
        yield
    finally:
        witness.quiet()
        _tell(functions, name, usual)


def _tell(functions: Any, name: str, variables: dict[str, str]) -> None:
    """Set all variables and wait until they are in force."""
    functions.update_function_configuration(FunctionName=name, Environment={"Variables": variables})
    until(
        lambda: functions.get_function_configuration(FunctionName=name)["LastUpdateStatus"] == "Successful" or None,
        "the function is updated",
    )


@contextmanager
def fed(stack: DeployedStack, *, processes: int) -> Iterator[None]:
    """Feed at most so many processes at once: each new one takes seconds of two cores."""
    functions = stack.aws("lambda")
    source = functions.list_event_source_mappings(FunctionName=stack.outputs["WorkerFunction"])
    usual = source["EventSourceMappings"][0]
    _feed(functions, usual["UUID"], processes)
    try:
        yield
    finally:
        _feed(functions, usual["UUID"], usual["ScalingConfig"]["MaximumConcurrency"])


def _feed(functions: Any, uuid: str, processes: int) -> None:
    """Change the mapping."""
    functions.update_event_source_mapping(UUID=uuid, ScalingConfig={"MaximumConcurrency": processes})
