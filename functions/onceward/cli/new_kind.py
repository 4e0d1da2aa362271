"""``onceward new-kind NAME``: write a kind's module, its test and a sample event, ready to be filled in.

Works in a clone of the kit and on its files alone; nothing that exists is overwritten, and nothing is asked of a stack.
"""

from __future__ import annotations

import json
import keyword
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Annotated

import typer

from onceward.cli.show import say
from onceward.domain.names import KIND_LENGTH, is_kind_name

KINDS = Path("functions/onceward/kinds")
REGISTERED = KINDS / "registered.py"
TESTS = Path("tests/unit/kinds")
EVENTS = Path("events")
_IMPORT = "import onceward.kinds."

MODULE = Template('''"""``$name``: say here what goes in and what comes out."""

from __future__ import annotations

from datetime import timedelta

from pydantic import BaseModel, ConfigDict, Field

from onceward.domain.policy import KindPolicy, RetryPolicy
from onceward.kinds.asking import ask_for
from onceward.kinds.catalog import KINDS
from onceward.usecases.context import Context

INSTRUCTION = "Say here what the model shall do with the text. Answer with one JSON object."


class ${word}Input(BaseModel):
    """What a client sends."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str = Field(min_length=1, max_length=20_000)


class ${word}Output(BaseModel):
    """What the model has to answer, and what the client gets."""

    model_config = ConfigDict(extra="forbid")

    answer: str


POLICY = KindPolicy(
    name="$name",
    timeout=timedelta(minutes=5),  # two calls: one, and one more if its answer is none
    call_timeout=timedelta(minutes=2),
    retry=RetryPolicy(max_attempts=3),
    tariff_micro_usd=2_000,  # what the user is charged for an accepted result
    max_call_cost=50_000,  # what one call can cost at most
    max_provider_cost=150_000,
)


@KINDS.kind(policy=POLICY, input_model=${word}Input, output_model=${word}Output)
async def run(ctx: Context, given: ${word}Input) -> ${word}Output:
    """Ask for an answer of the output's shape, and once more if it has another."""
    return await ask_for(ctx, "answer", [("system", INSTRUCTION), ("user", given.text)], ${word}Output)
''')
TEST = Template('''"""``$name``: what is asked, what is handed on, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from onceward.errors import JobFailure
from onceward.kinds.$module import INSTRUCTION, ${word}Input, ${word}Output, run
from tests.unit.kinds.fake_context import FakeContext, FakeModel, outcome, reply

SAMPLE = Path(__file__).parents[3] / "events" / "kind_$module.json"


def test_an_answer_of_the_right_shape_is_the_result() -> None:
    """One step, one question."""
    context = FakeContext(FakeModel(lambda _: reply('{"answer": "Yes."}')))

    assert outcome(run(context, ${word}Input(text="Is it so?"))) == ${word}Output(answer="Yes.")
    (asked,) = context.model.asked
    assert (asked.step, asked.messages) == ("answer", [("system", INSTRUCTION), ("user", "Is it so?")])


def test_an_answer_of_another_shape_twice_is_final() -> None:
    """It is told what was wrong once, and then done with."""
    context = FakeContext(FakeModel(lambda _: reply('{"text": "Yes."}')))
    with pytest.raises(JobFailure) as caught:
        outcome(run(context, ${word}Input(text="Is it so?")))

    assert caught.value.code == "invalid_output"
    assert [asked.step for asked in context.model.asked] == ["answer", "answer-again"]


@pytest.mark.parametrize("given", [{}, {"text": ""}, {"text": "x", "more": 1}])
def test_an_input_outside_its_bounds_is_refused(given: dict[str, object]) -> None:
    """Before anything is stored or reserved."""
    with pytest.raises(ValidationError):
        ${word}Input.model_validate(given)


def test_the_sample_event_holds_a_valid_input() -> None:
    """The body that a client sends."""
    body = json.loads(json.loads(SAMPLE.read_text(encoding="utf-8"))["body"])

    assert body["kind"] == "$name"
    assert ${word}Input.model_validate(body["input"]).text
''')


@dataclass(frozen=True, slots=True)
class Names:
    """A kind's name as its module and its classes spell it."""

    name: str
    module: str
    word: str

    @classmethod
    def of(cls, name: str) -> Names:
        """Read a name; raises ``typer.BadParameter``."""
        if not is_kind_name(name):
            wanted = f"lower-case words joined by dots or underscores, {KIND_LENGTH} characters at most, as ticket.sort"
            raise typer.BadParameter(wanted, param_hint="NAME")
        module = name.replace(".", "_")
        parts = module.split("_")
        for part in parts:
            if keyword.iskeyword(part):
                raise typer.BadParameter(f"{part} means something to Python; use another word", param_hint="NAME")
        return cls(name, module, "".join(part.title() for part in parts))


def new_kind(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The kind's public name, as ticket.sort.")],
    folder: Annotated[Path, typer.Option("--in", metavar="FOLDER", help="The clone to write into.")] = Path(),
) -> None:
    """Write a job kind, its test, a sample event.

    And the line that registers it.
    """
    names = Names.of(name)
    if not (folder / REGISTERED).is_file():
        raise typer.BadParameter(f"no clone of the kit: {REGISTERED} is not there", param_hint="--in")
    written = {
        KINDS / f"{names.module}.py": MODULE.substitute(name=name, word=names.word),
        TESTS / f"test_{names.module}.py": TEST.substitute(name=name, word=names.word, module=names.module),
        EVENTS / f"kind_{names.module}.json": sample_of(name),
    }
    taken = [path for path in written if (folder / path).exists()]
    if taken:
        raise typer.BadParameter(f"{taken[0]} is there already", param_hint="NAME")
    for path, text in written.items():
        (folder / path).write_text(text, encoding="utf-8")
        say(f"wrote {path}")
    register(folder / REGISTERED, names.module)
    test = TESTS / f"test_{names.module}.py"
    say(f"registered it in {REGISTERED}; fill it in, then: make check, and .venv/bin/pytest {test}")


def register(registered: Path, module: str) -> None:
    """Put the kind's line among the others, in their order."""
    lines = registered.read_text(encoding="utf-8").splitlines()
    imports = [line for line in lines if line.startswith(_IMPORT)]
    first = lines.index(imports[0]) if imports else len(lines)
    kept = [line for line in lines if not line.startswith(_IMPORT)]
    kept[first:first] = sorted({*imports, f"{_IMPORT}{module}"})
    registered.write_text("\n".join(kept) + "\n", encoding="utf-8")


def sample_of(name: str) -> str:
    """The API's event for a job of this kind, as the gateway sends it."""
    claims = {"token_use": "access", "tenant": "acme", "scope": "onceward/jobs:read onceward/jobs:write", "sub": "acme"}
    event = {
        "version": "2.0",
        "routeKey": "POST /api/ai/jobs",
        "rawPath": "/api/ai/jobs",
        "rawQueryString": "",
        "headers": {"content-type": "application/json", "idempotency-key": "key-1"},
        "requestContext": {
            "requestId": "request-1",
            "stage": "$default",
            "http": {"method": "POST", "path": "/api/ai/jobs", "sourceIp": "192.0.2.1", "protocol": "HTTP/1.1"},
            "authorizer": {"jwt": {"claims": claims, "scopes": None}},
        },
        "isBase64Encoded": False,
        "body": json.dumps({"kind": name, "input": {"text": "Is it so?"}}),
    }
    return json.dumps(event, indent=2) + "\n"
