"""Each sentence of the design's list has a test that is marked with its number; what is pending is named here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
INVARIANTS = range(1, 19)
# Until their code and its stories have landed; a line may go and none may come.
PENDING = {11: "events of a job: no event log yet"}


def marked(tree: ast.AST) -> Iterator[int]:
    """The numbers of every ``pytest.mark.invariant(...)`` in a file, as far as they are written out."""
    for node in ast.walk(tree):
        is_mark = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "invariant"
        if is_mark and isinstance(node, ast.Call):
            yield from (arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, int))


def violated() -> set[int]:
    """The numbers of the violations that ``tests/simulation/test_judge.py`` makes a marked test of, each."""
    tree = ast.parse((TESTS / "simulation" / "vandal.py").read_text(encoding="utf-8"))
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    made = (node for node in calls if isinstance(node.func, ast.Name) and node.func.id == "Violation")
    return {node.args[0].value for node in made if isinstance(node.args[0], ast.Constant)}  # type: ignore[misc]


def test_every_invariant_has_a_test() -> None:
    """Of eighteen, all but the pending ones."""
    files = [*TESTS.rglob("test_*.py")]
    found = violated() | {number for path in files for number in marked(ast.parse(path.read_text(encoding="utf-8")))}

    assert sorted(set(INVARIANTS) - found - PENDING.keys()) == []
    assert sorted(found & PENDING.keys()) == [], "no longer pending: take the line out"
