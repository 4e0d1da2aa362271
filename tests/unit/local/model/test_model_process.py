"""The server's process: it starts fast, says plainly what is wrong, and ends when it should."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.support.model_server import ModelServer

ASKED = {"model": "onceward-stand-in-1", "messages": [{"role": "user", "content": "x"}]}
FUNCTIONS = Path(__file__).resolve().parents[4] / "functions"


def test_it_is_ready_within_seconds_and_ends_on_term() -> None:
    """Starting costs a test next to nothing, and nothing is left behind."""
    started = time.monotonic()
    with ModelServer() as model:
        assert httpx.get(f"{model.url}/health").json()["status"] == "ok"
        assert time.monotonic() - started < 10  # 0.2 here; a loaded machine is granted more
        process = model.process
    assert process.returncode == 0


def test_it_ends_though_a_request_is_held() -> None:
    """A held request cannot keep the process alive."""
    with ModelServer() as model:
        model.behave(hold="gate")
        pool = ThreadPoolExecutor(1)
        asked = pool.submit(httpx.post, f"{model.base_url}/chat/completions", json=ASKED, timeout=20)
        model.wait_for(held=1)
        process = model.process
    assert process.returncode == 0
    with pool, pytest.raises(httpx.TransportError):
        asked.result()


def test_it_ends_with_the_process_that_started_it() -> None:
    """When a test run is killed, its server sees the pipe close and goes."""
    with ModelServer() as model:
        process = model.process
        assert process.stdin is not None
        process.stdin.close()

        assert process.wait(10) == 0


def test_a_busy_port_is_told_in_one_line() -> None:
    """The user learns what to do, and sees no traceback."""
    with ModelServer() as model:
        port = model.url.rpartition(":")[2]
        second = subprocess.run(
            [sys.executable, "-m", "onceward.local.model", "--port", port],
            env={"PYTHONPATH": str(FUNCTIONS)},
            capture_output=True,
            text=True,
            check=False,
        )

    assert second.returncode == 2
    assert second.stderr == f"port {port} on 127.0.0.1 is in use: choose another with --port\n"


def test_deduplication_can_be_switched_on_at_the_start() -> None:
    """The demonstration may run against a provider that dedupes; a reset keeps what it was started with."""
    with ModelServer("--dedupe-seconds", "60") as model:
        model.reset()
        for _ in range(2):
            httpx.post(f"{model.base_url}/chat/completions", json=ASKED, headers={"Idempotency-Key": "k"})

        assert (model.counts()["requests"], model.counts()["computations"]) == (2, 1)
