"""What the commands print and where: data on stdout, everything else on stderr."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Event

import pytest

from onceward.domain.names import JobId, StepKey
from onceward.domain.records import Usage
from onceward.domain.states import JobState
from tests.support.builders import an_answer
from tests.unit.cli.command import command, run
from tests.unit.client.live_api import TOKEN, LiveApi

FUNCTIONS = Path(__file__).parents[3] / "functions"
GENERATE = ("submit", "text.generate", "--input", '{"prompt": "hi"}')


def start(live: LiveApi, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """Start the command as a process of its own, with nothing but the environment."""
    # Tests that a script runs in its background ignore SIGINT, and a child would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    known = {"PYTHONPATH": str(FUNCTIONS), "ONCEWARD_URL": live.url, "ONCEWARD_TOKEN": TOKEN, **environment}
    return subprocess.Popen(
        [sys.executable, "-m", "onceward.cli", *arguments],
        env=known,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_submit_prints_the_id_and_nothing_else(live: LiveApi) -> None:
    """What a script captures is the id; the key to repeat the command with is told beside it."""
    ended = run(live, *GENERATE, "--key", "order-1")

    assert [job.job_id for job in live.world.store.rows.values()] == [ended.out.strip()]
    assert "submitting with --key order-1\n" in ended.err


def test_apart_asks_for_a_computation_of_its_own(live: LiveApi) -> None:
    """And without it a job may share: both stand in the stored input, where the worker reads them."""
    run(live, *GENERATE, "--key", "order-1")
    run(live, *GENERATE, "--key", "order-2", "--apart")
    inputs = [items["input"] for items in live.world.store.items.values()]

    assert ['"coalesce":false' in str(item) for item in inputs] == [False, True]


def test_repeated_submit_is_the_same_job(live: LiveApi) -> None:
    """The key makes a command safe to repeat, and a program sees which it was."""
    first, second = (json.loads(run(live, *GENERATE, "--key", "order-1", "--json").out) for _ in range(2))

    assert second["job_id"] == first["job_id"]
    assert [first["is_replay"], second["is_replay"]] == [False, True]
    assert first["idempotency_key"] == "order-1"


def test_submit_and_wait_prints_the_result(live: LiveApi) -> None:
    """The result is JSON, also where a person reads it."""
    ended = run(live, *GENERATE, "--wait")

    assert (ended.code, json.loads(ended.out)) == (0, {"text": "HI"})


def test_document_is_uploaded_and_named_in_the_input(live: LiveApi, tmp_path: Path) -> None:
    """One command from a file to its result."""
    path = tmp_path / "contract.pdf"
    path.write_bytes(b"%PDF-1.7")
    ended = run(live, "submit", "document.analyze", "--document", str(path), "--wait", "--json")

    assert json.loads(ended.out)["result"] == {"text": "8 bytes of application/pdf"}


def test_upload_prints_the_document_s_id(live: LiveApi, tmp_path: Path) -> None:
    """The id goes into a job's input, and a document is not named twice."""
    path = tmp_path / "contract.pdf"
    path.write_bytes(b"%PDF-1.7")
    document_id = run(live, "upload", str(path)).out.strip()
    given = json.dumps({"document_id": document_id})

    assert json.loads(run(live, "submit", "document.analyze", "--input", given, "--wait").out)["text"].startswith("8 ")
    assert run(live, "submit", "document.analyze", "--input", given, "--document", str(path)).code == 2


def test_document_s_type_can_be_named(live: LiveApi, tmp_path: Path) -> None:
    """A text in an old encoding is read by its charset; without a document there is nothing to name."""
    path = tmp_path / "contract.txt"
    path.write_bytes("Fälligkeit".encode("latin-1"))
    named = ("--content-type", "text/plain; charset=iso-8859-1")
    submitted = run(live, "submit", "document.analyze", "--document", str(path), *named, "--wait")
    document_id = run(live, "upload", str(path), *named).out.strip()

    assert json.loads(submitted.out) == {"text": "10 bytes of text/plain; charset=iso-8859-1"}
    assert live.blob.given[f"documents/acme/{document_id}"].fields["Content-Type"] == named[1]
    assert run(live, *GENERATE, *named).code == 2


def test_empty_file_is_told_before_anything_is_sent(live: LiveApi, tmp_path: Path) -> None:
    """In words, with the exit code of a wrong command."""
    path = tmp_path / "empty.pdf"
    path.touch()
    ended = run(live, "upload", str(path))

    assert (ended.code, ended.err, live.seen) == (2, "onceward: the file is empty\n", [])


def test_erased_job_says_so(live: LiveApi) -> None:
    """Its result is gone; how it ended stays."""
    job_id = run(live, *GENERATE).out.strip()
    erased = run(live, "erase", job_id)
    shown = run(live, "get", job_id)

    assert (erased.code, erased.out) == (0, "erased\n")
    assert "\nerased    2" in shown.out
    assert "HI" not in shown.out
    assert run(live, "erase", "A" * 26 + "-" + "B" * 8).code == 6


def test_recorded_cancel_is_told(live: LiveApi) -> None:
    """A job that a worker or a person has in hand does not end at once."""
    job_id = run(live, *GENERATE).out.strip()
    live.put_into_review(job_id)
    ended = run(live, "cancel", job_id)

    assert (ended.code, ended.out) == (0, "needs_review\n")
    assert "the cancel is recorded; the job ends when its review does" in ended.err


def test_failed_job_s_sentence_is_shown(live: LiveApi) -> None:
    """The code is for programs; what it means stands beside it."""
    job_id = run(live, *GENERATE).out.strip()
    ((place, row),) = live.world.store.rows.items()
    live.world.store.rows[place] = replace(row, state=JobState.FAILED, error_code="document_encrypted", result=None)
    shown, waited = run(live, "get", job_id), run(live, "wait", job_id)

    assert "error     document_encrypted: the document needs a password" in shown.out
    assert (waited.code, "failed: document_encrypted: the document needs a password" in waited.err) == (1, True)


def test_stack_s_file_is_missed_before_the_tenant(live: LiveApi, tmp_path: Path) -> None:
    """The first thing that is wrong is told first; then the tenants are named."""
    stack = tmp_path / "stack.json"
    missing = command("--stack", str(stack), "get", "x")
    stack.write_text(json.dumps({"api_url": live.url, "tokens": {"acme": TOKEN}}))
    unnamed = command("--stack", str(stack), "get", "x")

    assert (missing.code, "cannot read" in missing.err) == (2, True)
    assert (unnamed.code, "--stack needs --as: the tenant to be, of acme" in unnamed.err) == (2, True)


def test_input_comes_from_a_file(live: LiveApi, tmp_path: Path) -> None:
    """``@file`` is read."""
    path = tmp_path / "given.json"
    path.write_text('{"prompt": "ö"}', encoding="utf-8")

    assert '"Ö"' in run(live, "submit", "text.generate", "--input", f"@{path}", "--wait").out


def test_get_shows_a_job_to_a_person_and_to_a_program(live: LiveApi) -> None:
    """Lines by default, one line of JSON on demand; a terminal finds nothing in them to obey."""
    job_id = run(live, "submit", "text.generate", "--input", '{"prompt": "a\\u009b31m\\u001b"}').out.strip()
    shown, as_json = run(live, "get", job_id), run(live, "get", job_id, "--json")

    assert f"job       {job_id}\nkind      text.generate\nstatus    succeeded\n" in shown.out
    assert "charge    $0.005000" in shown.out
    assert "\\u009b" in shown.out
    assert not {"\x9b", "\x1b"} & {*shown.out, *as_json.out}
    assert json.loads(as_json.out)["result"] == {"text": "A\x9b31M\x1b"}


def test_get_with_attempts_tells_each_attempt_with_its_calls(live: LiveApi) -> None:
    """Number, run, stage and outcome; of each call whom it asked, under which request, its tokens and its cost."""
    job_id = run(live, *GENERATE, "--key", "order-1").out.strip()
    step, usage = StepKey("ask/1"), Usage(input=12, output=5)
    answer = an_answer(job_id=JobId(job_id), step=step, model="m-1", request_id="req-7", usage=usage)
    asyncio.run(live.world.store.put_cold(answer, answer.answered_at + timedelta(days=9)))
    first, attempt, call = run(live, "get", job_id, "--attempts").out.splitlines()
    (told,) = json.loads(run(live, "get", job_id, "--attempts", "--json").out)["attempts"]

    assert first.startswith(f"job       {job_id}  succeeded  epoch 1  cost $")
    assert attempt.startswith(f"attempt   1.1  run {told['run']}  ")
    assert "  accepted  succeeded  " in attempt
    assert call == "  call    ask/1  succeeded  stand-in m-1 req-7  12 in, 5 out  cost $0.000250"
    assert told["calls"][0]["provider_request_id"] == "req-7"


def test_local_stack_s_file_says_where_and_as_whom(live: LiveApi, tmp_path: Path) -> None:
    """``--stack`` and ``--as`` stand in for address and token."""
    path = tmp_path / "stack.json"
    path.write_text(json.dumps({"api_url": live.url, "tokens": {"acme": TOKEN}}))

    assert command("--stack", str(path), "--as", "acme", *GENERATE).code == 0
    stranger = command("--stack", str(path), "--as", "globex", *GENERATE)
    assert (stranger.code, "no tenant globex; it has acme" in stranger.err) == (2, True)
    assert command("--stack", str(path), *GENERATE).code == 2


def test_refusal_that_leaves_nothing_open_gives_no_advice(live: LiveApi) -> None:
    """A refused input is not stored, and nobody is told to try it again."""
    ended = run(live, "submit", "text.generate", "--input", "{}")

    assert ended.code == 6
    assert "422 invalid_input" in ended.err
    assert "may be stored" not in ended.err


@pytest.mark.parametrize("arguments", [("--help",), ("submit", "--help"), ("--version",)])
def test_help_is_plain(arguments: tuple[str, ...]) -> None:
    """Help needs no API and no colours."""
    ended = command(*arguments)

    assert (ended.code, ended.err) == (0, "")
    assert "\x1b" not in ended.out


def test_environment_and_stdin_are_enough(live: LiveApi) -> None:
    """As a shell script uses it: address and token from the environment, the input through a pipe."""
    process = start(live, "submit", "text.generate", "--input", "-", "--wait")
    out, err = process.communicate('{"prompt": "hi"}', timeout=60)

    assert (process.returncode, json.loads(out)) == (0, {"text": "HI"})
    assert TOKEN not in err


def test_interrupt_leaves_the_job_running(live: LiveApi) -> None:
    """Ctrl-C ends the waiting, not the job, and says how to go on."""
    live.is_working = False
    job_id = run(live, *GENERATE).out.strip()
    waiting = Event()
    live.when_asked[f"/api/ai/jobs/{job_id}"] = waiting
    process = start(live, "wait", job_id)
    assert waiting.wait(60)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)

    assert (process.returncode, out) == (130, "")
    assert err.endswith(f"job continues: onceward wait {job_id}\n")
    assert run(live, "get", job_id, "--json").out.count('"queued"') == 1


def test_interrupted_submission_can_be_repeated(live: LiveApi) -> None:
    """Nobody knows whether the job is stored then; the key, which was told before, finds out."""
    sent = Event()
    live.when_asked["/api/ai/jobs"] = sent
    live.answers_to_lose = 1000
    process = start(live, *GENERATE, "--key", "order-1")
    assert sent.wait(60)
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    live.answers_to_lose = 0

    assert process.returncode == 130
    assert "the same command with --key order-1 finds or makes that one job" in err
    assert json.loads(run(live, *GENERATE, "--key", "order-1", "--json").out)["is_replay"]
