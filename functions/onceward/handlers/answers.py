"""What all tenants' answers have in common: they are of a request that was let in, are JSON, and nobody keeps them."""

from __future__ import annotations

from collections.abc import Mapping

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from pydantic import BaseModel

from onceward.handlers.admission import ADMITTED, JSON, Admitted


def admitted_of(app: APIGatewayHttpResolver) -> Admitted:
    """The request being answered."""
    admitted: Admitted = app.context[ADMITTED]
    return admitted


def answer(status: int, body: BaseModel, more: Mapping[str, str] | None = None) -> Response[str]:
    """An answer with a body; ``more``: further headers."""
    headers: dict[str, str | list[str]] = {"Cache-Control": "no-store", **(more or {})}
    return Response(status_code=status, content_type=JSON, body=body.model_dump_json(), headers=headers)
