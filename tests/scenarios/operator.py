"""The operator of the deployed stack, typing commands: in this process, by the same entry as the installed program."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from onceward.local.stack_file import describe_stack, write_private
from tests.scenarios.stack import DeployedStack
from tests.unit.cli.command import Ended, command


@dataclass(frozen=True, slots=True)
class Operator:
    """Whoever holds the stack's file, as ``make run`` writes it."""

    file: Path

    @classmethod
    def of(cls, stack: DeployedStack, folder: Path) -> Self:
        """Write the file."""
        file = folder / "stack.json"
        facts = describe_stack(stack.cloud.endpoint_url, stack.outputs, stack.tokens, stack.model.url)
        write_private(file, json.dumps(facts))
        return cls(file)

    def types(self, *words: str) -> Ended:
        """A command, whatever comes of it."""
        return command("--stack", str(self.file), *words)

    def told(self, *words: str) -> list[dict[str, Any]]:
        """The lines of JSON that a command prints, which must end well."""
        ended = self.types(*words)
        assert ended.code == 0, (words, ended)
        return [json.loads(line) for line in ended.out.splitlines()]

    def grants(self, tenant: str, usd: str) -> None:
        """Open a tenant's account, or add to it."""
        self.told("account", "grant", tenant, usd, "--json")

    def finds(self, tenant: str) -> list[str]:
        """What the audit of a tenant's books finds: nothing, where they agree with the jobs."""
        ended = self.types("account", "verify", tenant, "--json")
        findings: list[str] = json.loads(ended.out)["findings"]
        assert ended.code == (7 if findings else 0), ended
        return findings
