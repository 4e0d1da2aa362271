"""The one shape of every error that our code answers (RFC 9457).

``code`` is stable and for programs, ``title`` and ``detail`` are for people. No member ever holds content or a secret.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

MEDIA_TYPE = "application/problem+json"
TYPE_PREFIX = "urn:onceward:problem:"


class ProblemFault(BaseModel):
    """One place that is wrong: a JSON pointer into the body (or a parameter's name) and why."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    pointer: str
    detail: str


class Problem(BaseModel):
    """An answer that is not the one asked for."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    type: str
    title: str
    status: int
    detail: str | None = None
    code: str
    errors: tuple[ProblemFault, ...] = ()
    job_id: Annotated[str | None, Field(description="The caller's own job that is in the way, if it named one.")] = None
    request_id: str | None = None


def title_of(code: str) -> str:
    """A code in words, the same for each occurrence."""
    return code.replace("_", " ").capitalize()


class GatewayMessage(BaseModel):
    """What the gateway itself answers, before or instead of our code: 401, 403, 413, 429, 503 and their like."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    message: str | None = None
