"""Write where the running stack answers, for other tools and for the user's own ``curl``.

``.local/stack.json`` is an interface: other tools read it. Tokens are in it, so only its owner may read it.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from onceward.local.differences import api_url
from onceward.local.environment import REGION
from onceward.local.places import LOCAL


def describe_stack(
    endpoint_url: str, outputs: Mapping[str, str], tokens: Mapping[str, str], model_url: str
) -> dict[str, object]:
    """Gather all that another tool needs to talk to the stack."""
    return {
        "api_url": api_url(endpoint_url, outputs["ApiId"]),
        "aws_endpoint_url": endpoint_url,
        "region": REGION,
        "model_url": model_url,
        "tokens": dict(tokens),
        "tables": {
            "jobs": outputs["JobsTable"],
            "accounts": outputs["AccountsTable"],
            "flights": outputs["FlightsTable"],
        },
        "queues": {"jobs": outputs["JobsQueueUrl"], "dead_letters": outputs["DeadLettersQueueUrl"]},
        "bucket": outputs["Bucket"],
    }


def write_private(path: Path, text: str) -> None:
    """Replace a file in one step; nobody but its owner may read it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".new")
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    unfinished.replace(path)


def write_stack(path: Path, stack: Mapping[str, object], tokens: Mapping[str, str]) -> None:
    """Write the description, and beside it one header file for each token: ``curl -H @.local/acme.header``."""
    write_private(path, json.dumps(stack, indent=2) + "\n")
    for name, token in tokens.items():
        write_private(header_file(name), f"authorization: Bearer {token}\n")


def header_file(name: str) -> Path:
    """Say where a token's header stands."""
    return LOCAL / f"{name}.header"


def forget_stack(path: Path) -> None:
    """Remove the description and the tokens of a stack that has ended."""
    path.unlink(missing_ok=True)
    for header in LOCAL.glob("*.header"):
        header.unlink()
