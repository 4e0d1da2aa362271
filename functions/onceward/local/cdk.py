"""Run the CDK command line, keep what it says in a log, and turn its failure into one line."""

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from onceward.local.failure import LocalError
from onceward.local.places import CDK, INFRA

# What tells most about a failure stands in the last line of one of these forms.
TELLING = re.compile(r"❌|\b[Ee]rror\b|CREATE_FAILED|UPDATE_FAILED|failed|^-c ")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def run_cdk(
    arguments: Sequence[str], *, environment: Mapping[str, str], log: Path, doing: str, folder: Path = INFRA
) -> None:
    """Run ``cdk`` in its folder to its end; ``LocalError`` names what failed and where the whole log is."""
    if not CDK.exists():
        raise LocalError("the CDK command line is not installed: run `make setup`")
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        done = subprocess.run(
            [str(CDK), *arguments],
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if done.returncode:
        raise LocalError(
            f"{doing} failed: {telling_line(log.read_text(encoding='utf-8', errors='replace'))} (see {log})"
        )


def telling_line(log: str) -> str:
    """Choose the line of a failed run that says most; the last of those that name an error, else the last."""
    lines = [line.strip() for line in COLOURS.sub("", log).splitlines() if line.strip()]
    telling = [line for line in lines if TELLING.search(line)]
    return (telling or lines or ["it said nothing"])[-1]


def context_arguments(context: Mapping[str, str]) -> list[str]:
    """Spell the parameters of the CDK app as its command line takes them."""
    return [part for name, value in context.items() for part in ("-c", f"{name}={value}")]
