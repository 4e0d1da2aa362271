"""Options that several commands share, and what is refused of them before anything is sent."""

from __future__ import annotations

from typing import Annotated

import typer

from onceward.domain.names import is_job_id, is_tenant_id

AsJson = Annotated[bool, typer.Option("--json", help="Print one line of JSON.")]


def tenant_name(text: str | None) -> str | None:
    """Refuse what cannot be a tenant's name."""
    if text is not None and not is_tenant_id(text):
        raise typer.BadParameter("a tenant's name is 1 to 64 of A-Z, a-z, 0-9, _, . and -")
    return text


def job_name(text: str | None) -> str | None:
    """Refuse what is no job's id."""
    if text is not None and not is_job_id(text):
        raise typer.BadParameter("a job's id is 26 letters and digits, a dash and 8 more")
    return text
