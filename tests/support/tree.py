"""Judge the shape of the tree: sizes, names and what no committed file may hold.

Run by `make check`; prints one line for each finding and exits 1 if there is any. Standard library only.
"""

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_LINES = 299  # a file of 300 lines holds more than one rule
MOST_FUNCTION_LINES = 40  # without its docstring
# Names that say nothing about what is inside, and one that would shadow the CDK's library of that name.
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "base", "misc", "manager", "constructs"}
# What changes with the machine; a lock or a program that holds it works in one place only.
LOCK_FOLDER = "locks"


def tracked_files(root: Path) -> list[Path]:
    """List the files that are, or are about to be, in the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    return [path for name in listed.stdout.splitlines() if (path := root / name).is_file()]


def is_nameless(path: Path) -> bool:
    """Tell whether a module or a folder on the way to it has a name that says nothing."""
    return any(part.removesuffix(".py") in EMPTY_NAMES for part in path.parts)


def long_functions(source: str) -> Iterator[tuple[str, int]]:
    """Yield the functions of a module that are too long, with their lines without the docstring."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        first = node.body[0]
        documented = ast.get_docstring(node, clean=False) is not None
        docstring_lines = (first.end_lineno or 0) - first.lineno + 1 if documented else 0
        lines = (node.end_lineno or 0) - node.lineno + 1 - docstring_lines
        if lines > MOST_FUNCTION_LINES:
            yield node.name, lines


def judge_python(name: Path, source: str) -> Iterator[str]:
    """Yield what is wrong with one Python file."""
    lines = source.count("\n")
    if lines > MOST_LINES:
        yield f"{name}: {lines} lines; split it by rule (at most {MOST_LINES})"
    for function, length in long_functions(source):
        yield f"{name}: {function} has {length} lines; name its parts (at most {MOST_FUNCTION_LINES})"


def judge(root: Path, paths: Iterable[Path]) -> Iterator[str]:
    """Yield one line for each thing in these files that the house does not allow."""
    for path in paths:
        name = path.relative_to(root)
        if is_nameless(name):
            yield f"{name}: a name that says nothing about what is inside"
        if path.suffix == ".py":
            yield from judge_python(name, path.read_text(encoding="utf-8"))
        if name.parts[0] == LOCK_FOLDER and "://" in path.read_text(encoding="utf-8"):
            yield f"{name}: a lock names an address; it would work in one place only"


def main() -> int:
    """Judge the repository this file is in; print the findings."""
    findings = list(judge(ROOT, tracked_files(ROOT)))
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
