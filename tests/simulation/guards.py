"""Every guard of the code, found in its syntax tree by kind and name, and how one is switched off.

A guard is code whose absence a fault would show: a clause of a condition, a condition of a write, a check before a
send, the comparison of an own token, the comparison of an epoch, the doubt about a refused repeat. Switching one off
compiles its module without it and gives the one function that held it the new code; nothing else changes, whoever has
imported it.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import onceward
from onceward.domain.conditions import ALL_CONDITIONS

SOURCE = Path(onceward.__file__).parent
CONDITIONS = {condition.__name__ for condition in ALL_CONDITIONS}
SEARCHED = ("domain", "usecases")
ALWAYS = ast.parse("type('Always', (), {'holds': lambda self, job: True})()", mode="eval").body
TRUE, FALSE = ast.Constant(value=True), ast.Constant(value=False)

type Place = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Guard:
    """One guard: what kind, where, which words of the source it is, and what stands in its place without it."""

    kind: str
    module: str
    function: str
    text: str
    place: Place
    without: ast.expr

    @property
    def name(self) -> str:
        """Its name in the registry: it survives moves within the file."""
        return f"{self.kind} {self.module.removeprefix('onceward.')}.{self.function}: {self.text}"


def all_guards() -> tuple[Guard, ...]:
    """Every guard of the domain and of the use cases, in the order of the files; equal names are numbered."""
    found = [
        guard for folder in SEARCHED for path in sorted((SOURCE / folder).glob("*.py")) for guard in _in_file(path)
    ]
    seen: dict[str, int] = {}
    numbered: list[Guard] = []
    for guard in found:
        seen[guard.name] = seen.get(guard.name, 0) + 1
        times = seen[guard.name]
        text = guard.text if times == 1 else f"{guard.text} ({times})"
        numbered.append(Guard(guard.kind, guard.module, guard.function, text, guard.place, guard.without))
    return tuple(numbered)


def _in_file(path: Path) -> Iterator[Guard]:
    """The guards of one module."""
    module = f"onceward.{path.parent.name}.{path.stem}"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for name, function in _functions(tree, ""):
        for kind, node, without in _of_function(path.stem, function):
            text = " ".join(ast.unparse(node).split())
            yield Guard(kind, module, name, text, _place(node), without)


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Functions and methods, by qualified name."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{child.name}", child


def _of_function(
    stem: str, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> Iterator[tuple[str, ast.expr, ast.expr]]:
    """What guards a function holds: kind, expression, and what takes its place."""
    if function.name == "holds":
        yield from _clauses(function)
    elif function.name.lstrip("_").startswith("is_own"):
        for result in (node for node in ast.walk(function) if isinstance(node, ast.Return)):
            if result.value is not None:
                yield "own-token", result.value, FALSE
    elif function.name == "is_silent":
        for result in (node for node in ast.walk(function) if isinstance(node, ast.Return)):
            if result.value is not None:
                yield "refusal", result.value, FALSE
    elif stem == "sending":
        for test in (node for node in ast.walk(function) if isinstance(node, ast.If | ast.IfExp)):
            yield "before-send", test.test, FALSE if isinstance(test, ast.If) else TRUE
    else:
        yield from _conditions(stem, function)


def _conditions(
    stem: str, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> Iterator[tuple[str, ast.expr, ast.expr]]:
    """Conditions that a function gives to a write or asks of a row, and epochs that it compares."""
    asked: set[int] = set()
    for node in ast.walk(function):  # outer nodes come before inner ones
        if stem != "read_job" and isinstance(node, ast.Compare) and _is_of_epochs(node):  # reading guards nothing
            yield "epoch", node, TRUE if isinstance(node.ops[0], ast.Eq) else FALSE
        if not isinstance(node, ast.Call):
            continue
        asks = node.func.value if isinstance(node.func, ast.Attribute) and node.func.attr == "holds" else None
        if isinstance(asks, ast.Call) and _called(asks) in CONDITIONS:
            asked.add(id(asks))
            yield "check", node, TRUE
        elif _called(node) in CONDITIONS and id(node) not in asked:
            yield "condition", node, ALWAYS


def _clauses(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, ast.expr, ast.expr]]:
    """Each part of each conjunction of a condition; the whole of one that has a single part."""
    conjunctions = [
        node for node in ast.walk(function) if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And)
    ]
    for conjunction in conjunctions:
        for part in conjunction.values:
            yield "clause", part, TRUE
    if not conjunctions:
        for node in ast.walk(function):
            if isinstance(node, ast.Return) and isinstance(node.value, ast.expr):
                yield "clause", node.value, TRUE


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _is_of_epochs(node: ast.Compare) -> bool:
    """Whether two epochs are compared, each by itself."""
    sides = (node.left, *node.comparators)
    is_named = any(isinstance(side, ast.Attribute) and side.attr == "epoch" for side in sides)
    return is_named and isinstance(node.ops[0], ast.Eq | ast.NotEq) and len(node.ops) == 1


def _place(node: ast.expr) -> Place:
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0


class _Replacer(ast.NodeTransformer):
    """Puts one expression in another's place."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self.done = 0

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.expr) and _place(node) == self._guard.place:
            self.done += 1
            return ast.copy_location(self._guard.without, node)
        return self.generic_visit(node)


@contextmanager
def switched_off(guard: Guard) -> Iterator[None]:
    """The code without one guard, for as long as this lasts."""
    module = import_module(guard.module)
    path = SOURCE / guard.module.split(".")[1] / f"{guard.module.split('.')[2]}.py"
    replacer = _Replacer(guard)
    tree = ast.fix_missing_locations(replacer.visit(ast.parse(path.read_text(encoding="utf-8"))))
    assert replacer.done == 1, guard.name
    code = _code_of(compile(tree, str(path), "exec"), guard.function)
    function = _function_of(module, guard.function)
    before = function.__code__
    function.__code__ = code
    try:
        yield
    finally:
        function.__code__ = before


def _code_of(code: types.CodeType, name: str) -> types.CodeType:
    """The code object of a qualified name."""
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            if inner.co_qualname == name:
                return inner
            if name.startswith(f"{inner.co_qualname}."):
                return _code_of(inner, name)
    raise LookupError(name)


def _function_of(module: types.ModuleType, name: str) -> types.FunctionType:
    """The function of a qualified name."""
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part) if isinstance(found, types.ModuleType) else found.__dict__[part]
    found = getattr(found, "fget", None) or getattr(found, "__func__", None) or found
    assert isinstance(found, types.FunctionType), name
    return found
