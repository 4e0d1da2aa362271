"""The table of exit codes, row by row, against the real API."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from onceward.cli.exits import MEANINGS, ExitCode
from tests.unit.cli.command import run
from tests.unit.client.live_api import LiveApi

SUBMIT = ("submit", "text.generate", "--wait", "--input")
FINE, BAD = '{"prompt": "hi"}', '{"prompt": "fail"}'


def a_job(live: LiveApi, given: str = FINE, *, is_worked_on: bool = True) -> str:
    """Submit a job; its id."""
    live.is_working = is_worked_on
    return run(live, "submit", "text.generate", "--input", given).out.strip()


def cancelled(live: LiveApi) -> str:
    """A job that was cancelled."""
    job_id = a_job(live, is_worked_on=False)
    assert run(live, "cancel", job_id).out == "cancelled\n"
    return job_id


def in_review(live: LiveApi) -> str:
    """A job whose outcome is unknown."""
    job_id = a_job(live, is_worked_on=False)
    live.put_into_review(job_id)
    return job_id


@pytest.mark.parametrize(
    ("make", "code", "told"),
    [
        (lambda live: a_job(live, FINE), ExitCode.OK, ""),
        (lambda live: a_job(live, BAD), ExitCode.JOB_FAILED, "failed: too_vague"),
        (cancelled, ExitCode.JOB_CANCELLED, "is cancelled"),
        (lambda live: a_job(live, is_worked_on=False), ExitCode.WAIT_TIMEOUT, "is queued and goes on"),
        (in_review, ExitCode.OUTCOME_UNKNOWN, "an outcome is unknown"),
        (lambda _: "ABC", ExitCode.API, "404 job_not_found"),
    ],
)
def test_wait_ends_as_the_job_does(live: LiveApi, make: Callable[[LiveApi], str], code: ExitCode, told: str) -> None:
    """Each way a wait can end has its own code and one line on stderr; the job itself is on stdout for a program."""
    job_id = make(live)
    ended = run(live, "wait", job_id, "--timeout", "0")
    as_json = run(live, "wait", job_id, "--timeout", "0", "--json")

    assert (ended.code, as_json.code) == (code, code)
    assert told in ended.err
    assert (ended.out == "") == (code is not ExitCode.OK)
    assert (f'"job_id": "{job_id}"' in as_json.out) == (code is not ExitCode.API)


@pytest.mark.parametrize(
    "arguments",
    [
        ("get",),
        ("unknown",),
        ("submit", "text.generate"),
        ("submit", "text.generate", "--input", "{"),
        ("submit", "text.generate", "--input", "[]"),
        ("submit", "text.generate", "--input", '{"prompt": NaN}'),
        ("submit", "text.generate", "--input", "@absent.json"),
        ("submit", "text.generate", "--input", FINE, "--timeout", "1"),
        ("submit", "text.generate", "--input", FINE, "--key", ""),
        ("submit", "document.analyze", "--document", "absent.pdf"),
        ("upload", "absent.pdf"),
        ("wait", "ABC", "--timeout", "-1"),
        ("--as", "acme", "get", "ABC"),
        ("--stack", "absent.json", "--as", "acme", "get", "ABC"),
    ],
)
def test_wrong_command_is_told_before_anything_is_sent(live: LiveApi, arguments: tuple[str, ...]) -> None:
    """A command that cannot be meant says why and asks nothing."""
    ended = run(live, *arguments)

    assert ended.code == ExitCode.USAGE
    assert (ended.out, live.seen) == ("", [])
    assert ended.err.strip()


def test_nobody_there_is_the_api_s_code(live: LiveApi) -> None:
    """A refusal of the gateway and an answer of our own end alike."""
    ended = run(live, "--token", "another", "get", "ABC")

    assert (ended.code, ended.err) == (ExitCode.API, "onceward: 401 unauthorized: Unauthorized\n")


def test_documented_table_is_the_code_s() -> None:
    """``docs/client.md`` and the code name the same codes with the same meanings."""
    text = (Path(__file__).parents[3] / "docs" / "client.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", text, re.MULTILINE)

    assert rows == [(str(code.value), meaning) for code, meaning in MEANINGS.items()]
    assert set(MEANINGS) == set(ExitCode)
