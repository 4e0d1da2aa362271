"""A job's input as it is given on a command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NoReturn

import typer
from pydantic import JsonValue

OPTION = "--input"


def read_input(text: str | None, *, has_document: bool, option: str = OPTION) -> dict[str, JsonValue]:
    """JSON itself, ``@file`` or ``-`` for stdin; a document alone needs no more. Raises ``typer.BadParameter``."""
    if text is None:
        if has_document:
            return {}
        raise typer.BadParameter("say what the job is given: JSON, @file or -", param_hint=option)
    try:
        value = json.loads(_text(text, option), parse_constant=_constant)
    except (ValueError, RecursionError):
        raise typer.BadParameter("this is not JSON", param_hint=option) from None
    if not isinstance(value, dict):
        raise typer.BadParameter("give a JSON object", param_hint=option)
    return value


def _text(text: str, option: str) -> str:
    """The words, wherever they are."""
    if text == "-":
        return sys.stdin.buffer.read().decode("utf-8")
    if not text.startswith("@"):
        return text
    try:
        return Path(text[1:]).read_text(encoding="utf-8")
    except OSError as error:
        raise typer.BadParameter(f"cannot read {text[1:]}: {error.strerror}", param_hint=option) from None


def _constant(_: str) -> NoReturn:
    """Refuse NaN and the infinities, which Python would read."""
    raise ValueError("not JSON")
