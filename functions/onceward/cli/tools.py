"""Declared actions and job kinds as an agent's tools: their schemas, and what makes two calls of one the same.

The operation's id is derived from the business arguments that the declaration names, and from nothing that a model
writes: a call that a framework repeats, or a model makes again in its next turn, is the same operation. With other
arguments beside the same facts it is a conflict, and the model is told so.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import BaseModel, JsonValue, ValidationError

from onceward.client import AsyncOnceward
from onceward.errors import OncewardError
from onceward.usecases.actions import AnyAction
from onceward.usecases.pointers import faults_of
from onceward.usecases.registry import AnyKind, Registry

DIGITS = 26  # base32 characters of a SHA-256: 130 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolText:
    """What a tool answers: text for the model, and whether it is an error."""

    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """One tool: an action, or a kind whose input names what it is about."""

    name: str
    description: str
    model: type[BaseModel]
    identified_by: tuple[str, ...]
    action: AnyAction | None = None
    kind: AnyKind | None = None

    @property
    def schema(self) -> dict[str, Any]:
        """Its arguments, for the model."""
        return self.model.model_json_schema()

    def operation_id(self, arguments: Mapping[str, JsonValue]) -> str:
        """The intention's name: the tool, and a digest of its business arguments."""
        from onceward.wire.canonical import canonical_bytes  # noqa: PLC0415 - the client's install lacks its library

        facts: JsonValue = {name: arguments[name] for name in self.identified_by}
        digest = base64.b32encode(hashlib.sha256(canonical_bytes(facts)).digest()).decode()
        return f"{self.name}:{digest[:DIGITS].lower()}"


def offered(registry: Registry) -> dict[str, Offered]:
    """The tools of a deployment: every action, and the kinds that say what makes two requests one."""
    found = [
        Offered(
            name=action.name,
            description=action.description,
            model=action.arguments,
            identified_by=action.identified_by,
            action=action,
        )
        for action in registry.actions
    ]
    found += [
        Offered(
            name=kind.name.replace(".", "_"),
            description=f"Submit a job of the kind {kind.name} and wait for its result.",
            model=kind.input_model,
            identified_by=kind.identified_by,
            kind=kind,
        )
        for kind in registry
        if kind.action is None and kind.identified_by
    ]
    return {one.name: one for one in found}


async def use(
    client: AsyncOnceward, tool: Offered, given: Mapping[str, Any], *, run_id: str, timeout: float | None
) -> ToolText:
    """Let a tool do its work once, and say in a line of JSON what came of it; never raises for what went wrong."""
    try:
        checked = tool.model.model_validate(dict(given)).model_dump(mode="json", by_alias=True)
    except ValidationError as error:
        faults = [asdict(fault) for fault in faults_of(error, tool.model)]
        return ToolText(text=json.dumps({"code": "invalid_input", "errors": faults}), is_error=True)
    operation_id = tool.operation_id(checked)
    try:
        if tool.kind is not None:
            result = await client.submit_and_wait(tool.kind.name, checked, operation_id, timeout=timeout)
            return ToolText(text=json.dumps(result))
        told = await client.act(tool.name, checked, operation_id=operation_id, run_id=run_id, timeout=timeout)
    except OncewardError as error:
        told_error = {"code": error.code, "detail": str(error), "operation_id": operation_id}
        return ToolText(text=json.dumps(told_error), is_error=True)
    body = None if told.response is None else told.response.body
    return ToolText(text=json.dumps({"operation_id": operation_id, "response": body}))
