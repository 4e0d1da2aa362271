"""The pages are true where a program can tell: links, commands, names of files and tests, words, snippets, lists."""

from __future__ import annotations

import inspect
import json
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import pytest

from onceward.cli.main import app
from onceward.client import Onceward
from onceward.domain.claim import Claim
from onceward.domain.ledger import Verb
from onceward.domain.retry import ErrorClass
from onceward.domain.states import AttemptOutcome, CallState, JobState, ProviderCancel, WaitingFor
from onceward.local.curl import ACTION
from onceward.local.differences import DIFFERENCES
from onceward.local.model.behaviours import read_rule
from onceward.local.places import SAMPLE
from onceward.local.shell import shell_lines

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE_SPAN = re.compile(r"`([^`\n]+)`")
FENCE = re.compile(r"```\w*\n.*?```", re.DOTALL)
TOP = ("functions", "infra", "tests", "docs", "events", "locks", ".ci")
# Section 8 of the design: the words that mean one thing everywhere.
WORDS = (
    *("job", "job kind", "attempt", "epoch", "call", "step key", "delivery", "receive count", "lease", "run_token"),
    *("heartbeat", "start", "resume", "takeover", "look", "closing run", "answer", "sweeper", "due", "dispatch"),
    *("dead letter", "redrive", "resolve", "reconcile", "idempotency key", "request fingerprint", "replay"),
    *("coalescing", "flight", "participant", "estimate", "reserve", "capture", "release", "carry", "tariff"),
    *("account", "entry", "provider cost", "charge", "event", "cursor"),
)


def read(name: str) -> str:
    """One page."""
    return (ROOT / name).read_text(encoding="utf-8")


def anchors_of(page: Path) -> set[str]:
    """The anchors that GitHub gives a page's headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links() -> Iterator[tuple[Path, str]]:
    """Every link of every page that does not leave the repository."""
    for page in PAGES:
        for target in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
            if "://" not in target:
                yield page, target


def table_after(page: str, header: str) -> list[list[str]]:
    """The rows of the table with this header, cell by cell."""
    _, found, rest = page.partition(f"{header}\n")
    assert found, f"no table with the header {header}"
    rows = [line for line in rest.split("\n\n")[0].splitlines()[1:] if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


@pytest.mark.parametrize(("page", "target"), list(links()), ids=lambda value: str(value).rpartition("/")[2])
def test_every_link_leads_somewhere(page: Path, target: str) -> None:
    """A file that exists, and in it a heading that exists."""
    path, _, anchor = target.partition("#")
    found = page if not path else (page.parent / path).resolve()

    assert found.exists(), f"{page.name} links to {target}"
    assert not anchor or anchor in anchors_of(found), f"{found.name} has no heading {anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_place_that_a_page_names_exists(page: Path) -> None:
    """Paths in code spans are files or folders of this repository."""
    spans = CODE_SPAN.findall(FENCE.sub("", page.read_text(encoding="utf-8")))
    paths = [span for span in spans if span.startswith(tuple(f"{top}/" for top in TOP)) and not set(span) & set("*<{ ")]

    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_every_test_that_a_page_names_exists() -> None:
    """A promise is shown by a test that is there."""
    named = {name for page in PAGES for name in re.findall(r"`(test_\w+)`", page.read_text(encoding="utf-8"))}
    there = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))

    assert {name for name in named if f"def {name}(" not in there} == set()
    assert named


def test_every_command_of_the_readme_exists() -> None:
    """``make`` targets are in the Makefile, the console script in pyproject.toml."""
    targets = set(re.findall(r"^([a-z]+):.*## ", read("Makefile"), re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z]+)\b(?=[ `\n])", "\n".join(_commands(README))))

    assert named
    assert named <= targets
    assert '\nonceward = "onceward.cli.main:app"\n' in read("pyproject.toml")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_nothing_that_is_there_is_called_missing(page: Path) -> None:
    """What a page excludes is neither a group of commands nor a state of a job."""
    missing = re.findall(r"not in this version[^.|]*", page.read_text(encoding="utf-8"), re.IGNORECASE)
    there = [str(group.typer_instance.info.name) for group in app.registered_groups if group.typer_instance]

    assert [(word, text) for text in missing for word in [*there, *WaitingFor] if word in text] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_that_types_the_command_says_where_it_is(page: Path) -> None:
    """``make setup`` puts it into this folder and on nobody's path."""
    text = page.read_text(encoding="utf-8")
    typed = re.findall(r"^onceward ", "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL)), re.MULTILINE)

    assert not typed or ".venv/bin/activate" in text


def test_the_readme_s_action_is_the_one_that_make_run_prints() -> None:
    """One operation, so that both make one task; and the address is set by the line that is printed too."""
    (block,) = [block for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) if "agent-actions" in block]
    export, _, asked = block.partition("\n")
    given = json.loads(shlex.split(asked)[shlex.split(asked).index("-d") + 1])

    assert export in shell_lines("acme", SAMPLE)
    assert given.items() <= ACTION.items()


def test_the_incident_can_be_made_by_the_stand_in() -> None:
    """What the page tells the model server to do is what it can do."""
    asked = re.findall(r"^curl -d '(.*)' \S+/_control/behave$", read("docs/operations.md"), re.MULTILINE)

    assert [read_rule(json.loads(one)).times for one in asked] == [1, 3]


def test_decisions_are_numbered_without_gaps() -> None:
    """File names, titles and numbers agree, and each page has its three parts."""
    pages = sorted((ROOT / "docs" / "decisions").iterdir())

    assert [page.name[:4] for page in pages] == [f"{number:04d}" for number in range(1, len(pages) + 1)]
    for number, page in enumerate(pages, 1):
        text = page.read_text(encoding="utf-8")
        assert text.startswith(f"# {number}. "), page.name
        assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["Context", "Decision", "Consequences"], page.name


def test_the_glossary_has_every_word_once() -> None:
    """The words of the design, and those that the code itself says: claims and verbs."""
    defined = re.findall(r"^\| \*\*([^*]+)\*\* \| \S", read("docs/glossary.md"), re.MULTILINE)

    assert [word for word, count in Counter(defined).items() if count > 1] == []
    assert {*WORDS, *Verb, *set(Claim) - {Claim.CLOSE}} - set(defined) == set()


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("| state | meaning |", JobState),
        ("| `waiting` for | meaning |", WaitingFor),
        ("| attempt | meaning |", AttemptOutcome),
        ("| call | meaning |", CallState),
        ("| error class | what follows |", ErrorClass),
        ("| `cancel.provider` | meaning |", ProviderCancel),
    ],
)
def test_the_lifecycle_page_tells_every_word_of_the_code(header: str, words: type[StrEnum]) -> None:
    """A state, an outcome or a class that the code knows has its line, in the code's order."""
    rows = table_after(read("docs/lifecycle.md"), header)

    assert [row[0] for row in rows] == [f"`{word}`" for word in words]


def test_the_readme_lists_what_differs_locally() -> None:
    """The list is the module's own; on a difference, paste what this test prints."""
    printed = "".join(f"| {one.subject} | {one.here} | {one.instead} |\n" for one in DIFFERENCES)

    assert f"| subject | here | instead |\n|---|---|---|\n{printed}" in README, printed


def test_the_readme_s_kind_registers() -> None:
    """The first snippet runs as it stands; in a process of its own, since it registers for good."""
    kind, _ = _snippets()
    program = f"{kind}\nprint([one.name for one in KINDS])"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert (ran.stdout, ran.stderr) == ("['ticket.sort']\n", "")


@pytest.mark.parametrize("page", ["README.md", "docs/job-kinds.md"])
def test_a_page_s_kind_passes_the_project_s_rules(page: str) -> None:
    """Copied into its place, it is as ``make check`` wants it."""
    kind = re.findall(r"```python\n(.*?)```", read(page), re.DOTALL)[0]
    place = ("--stdin-filename", "functions/onceward/kinds/ticket_sort.py", "-")
    for judged in (("check", "--quiet"), ("format", "--check", "--quiet")):
        command = [sys.executable, "-m", "ruff", *judged, *place]
        ran = subprocess.run(command, input=kind, cwd=ROOT, capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", ""), judged


def test_the_readme_s_client_calls_what_exists() -> None:
    """The second snippet compiles, and its one call fits the client's signature."""
    _, client = _snippets()
    compile(client, "README.md", "exec")
    given = inspect.signature(Onceward.submit_and_wait).bind(None, "ticket.sort", {"text": "money"}, "ticket-4711")

    assert 'client.submit_and_wait("ticket.sort", {"text": ' in client
    assert given.arguments["idempotency_key"] == "ticket-4711"


def _snippets() -> tuple[str, str]:
    """The Python of the README: a kind, and a client."""
    kind, client = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    return kind, client


def _commands(page: str) -> list[str]:
    """What a page tells to type: shell blocks and code spans."""
    shell = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    return [*shell, *(f"{span} " for span in CODE_SPAN.findall(FENCE.sub("", page)))]
