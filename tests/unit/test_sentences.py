"""Each code that a job may fail with has its sentence, in one table."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from onceward.domain.closing import Close
from onceward.domain.flights import Gone
from onceward.domain.resolving import REVIEW_FAILED
from onceward.domain.retry import GiveUp
from onceward.errors import CallFailure, JobFailure
from onceward.errors.sentences import SENTENCES
from onceward.handlers.job_views import error_view
from onceward.kinds.extract_document import REASONS
from onceward.usecases.keep_answer import CHANGED

PACKAGE = Path(__file__).parents[2] / "functions" / "onceward"
WHERE = ("domain", "usecases", "kinds", "providers")
BY_KEYWORD = {"JobFailure", "CallFailure", "Failure", "Verdict", "AttemptEnd", GiveUp.__name__}
BY_PLACE = {"Meaning": 1, "failure": -1, "_refused": 0, "_forbidden": 0, "_unread": 0, "_no_more": 0}


def words(node: ast.expr) -> Iterator[str]:
    """The text that an argument is."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def codes_of(call: ast.Call) -> Iterator[str]:
    """The codes that a call names, where it makes a failure."""
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    if name in BY_KEYWORD:
        for given in call.keywords:
            if given.arg in {"code", "error_code"}:
                yield from words(given.value)
    if name in BY_PLACE and len(call.args) > BY_PLACE[name]:
        yield from words(call.args[BY_PLACE[name]])


def codes() -> set[str]:
    """Every code in the source that a job may fail with."""
    paths = [path for folder in WHERE for path in (PACKAGE / folder).rglob("*.py")]
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in paths]
    found = {code for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call) for code in codes_of(node)}
    ends = {str(one) for one in Close if one not in {Close.REVIEW, Close.FAILED}}
    return found | ends | {Gone().code, "flight_failed"} | {CHANGED, REVIEW_FAILED, CallFailure.code, JobFailure.code}


def test_every_code_has_its_sentence() -> None:
    """In the table beside the error tree, or beside the limits of a document."""
    found = codes()

    assert {"provider_auth", "target_refused", "empty_answer", "spend_cap_reached", "attempts_exhausted"} <= found
    assert found - {*SENTENCES, *REASONS} == set()


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("provider_auth", SENTENCES["provider_auth"]),
        ("document_encrypted", "the document needs a password"),
        ("too_vague", None),
    ],
)
def test_an_error_is_shown_with_its_sentence(code: str, message: str | None) -> None:
    """The engine's, a document's; a code of a kind's own has none that we could know."""
    shown = error_view(code)

    assert shown is not None
    assert (shown.code, shown.message) == (code, message)
