"""Children: limited, without our environment, and gone in every case."""

import ast
import asyncio
import os
import signal
from datetime import timedelta
from pathlib import Path

import pytest

from onceward.adapters.child import OUTPUT_LIMIT
from onceward.adapters.system import SystemSpawn
from onceward.usecases.ports import ChildEnd

PROGRAM = "tests.unit.adapters.system.child_program"
MIB = 1024 * 1024
AMPLE = timedelta(seconds=60)  # for children that end by themselves, on a machine that others use too


async def run(command: bytes, *, timeout: timedelta = AMPLE, memory_bytes: int = 512 * MIB) -> ChildEnd:
    """Run the test's program with a command."""
    return await SystemSpawn().child(PROGRAM, command, timeout=timeout, memory_bytes=memory_bytes)


def test_what_a_child_reads_it_can_write() -> None:
    """Input and output are bytes, larger than any pipe holds."""
    sent = bytes(range(256)) * 4096 * 4

    end = asyncio.run(run(b"echo " + sent))

    assert end == ChildEnd(code=0, stdout=sent, is_timed_out=False)


@pytest.mark.parametrize("code", [0, 1, 7])
def test_exit_code_is_told(code: int) -> None:
    """A child's own end is told apart by its code."""
    assert asyncio.run(run(b"exit %d" % code)).code == code


def test_an_unknown_module_is_an_exit_code() -> None:
    """Nothing is raised for a child that could not even begin."""
    end = asyncio.run(SystemSpawn().child("onceward.no_such", b"", timeout=AMPLE, memory_bytes=512 * MIB))

    assert (end.code, end.stdout, end.is_timed_out) == (1, b"", False)


def test_child_gets_nothing_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials stay here; the module path goes along, so that the same code is found."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("ONCEWARD_STAGE", "test")

    assert ast.literal_eval(asyncio.run(run(b"environment")).stdout.decode()) == ["LANG", "PYTHONPATH"]


def test_child_runs_as_its_module() -> None:
    """The launcher is not to be seen: the module is the main one, without the launcher's arguments."""
    program = Path(__file__).with_name("child_program.py")

    assert asyncio.run(run(b"arguments")).stdout.decode() == f"['{program}'] __main__ /\n"


def test_complaints_are_dropped(capfd: pytest.CaptureFixture[str]) -> None:
    """What a child writes to standard error may quote the document, and reaches no log of ours."""
    end = asyncio.run(run(b"complain"))

    assert (end.code, end.stdout) == (0, b"")
    assert capfd.readouterr() == ("", "")


def test_limits_cannot_be_raised() -> None:
    """Soft and hard limits are one, so an unprivileged child is held to them."""
    end = asyncio.run(run(b"limits", timeout=AMPLE, memory_bytes=300 * MIB))

    limits = ast.literal_eval(end.stdout.decode())
    assert limits["AS"] == (300 * MIB, 300 * MIB)
    assert limits["CPU"] == (61, 62)
    assert limits["FSIZE"] == (OUTPUT_LIMIT, OUTPUT_LIMIT)
    assert limits["NPROC"] == limits["CORE"] == (0, 0)
    assert limits["NOFILE"] == (64, 64)


def test_memory_beyond_the_limit_ends_the_child() -> None:
    """A document that asks for too much memory costs a child, not the batch."""
    greedy = asyncio.run(run(b"allocate %d" % (400 * MIB), memory_bytes=300 * MIB))
    modest = asyncio.run(run(b"allocate %d" % (100 * MIB), memory_bytes=300 * MIB))

    assert (greedy.code, greedy.stdout, greedy.is_timed_out) == (1, b"", False)
    assert (modest.code, modest.stdout.strip()) == (0, str(100 * MIB).encode())


def test_flood_is_ended_by_the_kernel() -> None:
    """Output is bounded while it is written, not after."""
    end = asyncio.run(run(b"flood"))

    assert (end.code, len(end.stdout), end.is_timed_out) == (-signal.SIGXFSZ, OUTPUT_LIMIT, False)


def test_child_that_hangs_is_killed_at_its_timeout() -> None:
    """The time limit ends what would not end."""
    end = asyncio.run(run(b"hang", timeout=timedelta(seconds=0.3)))

    assert (end.code, end.is_timed_out) == (-signal.SIGKILL, True)


@pytest.mark.parametrize(("command", "code"), [(b"family orphan", 0), (b"family", -signal.SIGKILL)])
def test_children_of_a_child_end_with_it(command: bytes, code: int) -> None:
    """The whole group ends, whether its leader ended itself or was ended. Unprivileged, a child can have no child."""
    end = asyncio.run(run(command, timeout=timedelta(seconds=2) if code else AMPLE))

    assert end.code == (code if os.geteuid() == 0 else 1)
    for pid in end.stdout.split():
        await_end(int(pid))


def test_cancelled_caller_takes_the_child_along() -> None:
    """A cancelled attempt leaves no child behind; the fixture sees that none is left, not even a zombie."""

    async def cancel_in_flight() -> None:
        before = children()
        task = asyncio.create_task(run(b"hang"))
        await asyncio.sleep(0)
        assert children() > before
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancel_in_flight())


def test_children_run_side_by_side() -> None:
    """The loop is free while children run: none waits for another's end."""

    async def both() -> list[ChildEnd]:
        slow = asyncio.create_task(run(b"hang", timeout=timedelta(seconds=5)))
        quick = await run(b"echo quick")
        assert not slow.done()
        slow.cancel()
        await asyncio.gather(slow, return_exceptions=True)
        return [quick]

    assert [end.stdout for end in asyncio.run(both())] == [b"quick"]


def test_starved_loop_does_not_time_out_a_child_that_ended() -> None:
    """A loop that looks late asks once more before it says that the child was too slow."""

    async def starve() -> ChildEnd:
        before = children()
        task = asyncio.create_task(run(b"exit 0", timeout=timedelta(seconds=0.3)))
        await asyncio.sleep(0)
        block_until_ended(children() - before)
        deadline = asyncio.get_running_loop().time() + 0.3
        while asyncio.get_running_loop().time() < deadline:
            pass
        return await task

    assert asyncio.run(starve()) == ChildEnd(code=0, stdout=b"", is_timed_out=False)


def children() -> set[int]:
    """The children that this thread has started and not reaped; other tests' servers are among them."""
    return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}


def block_until_ended(pids: set[int]) -> None:
    """Block, loop and all, until these children have ended; they are not reaped."""
    for pid in pids:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


def await_end(pid: int) -> None:
    """Until a killed process is gone, or a zombie that waits for init; the test's own time limit bounds it."""
    stat = Path(f"/proc/{pid}/stat")
    while stat.exists() and stat.read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}:
        os.sched_yield()
