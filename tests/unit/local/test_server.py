"""A local server is started once, found again, ended for good, and says in one line what is in its way."""

import os
import socket
import sys
from pathlib import Path

import pytest

from onceward.local.failure import LocalError
from onceward.local.server import LOOPBACK, Server, free_port


def a_server(folder: Path, *, port: int = 0, command: tuple[str, ...] = ()) -> Server:
    """Describe a file server, or another command."""
    port = port or free_port()
    return Server(
        name="file-server",
        folder=folder,
        port=port,
        command=command or (sys.executable, "-m", "http.server", "--bind", LOOPBACK, str(port)),
        environment={"PATH": os.environ["PATH"]},
        health="/",
    )


def test_server_of_an_earlier_run_is_found_and_left_running(tmp_path: Path) -> None:
    """Starting twice starts once, also for another object of the same place."""
    first = a_server(tmp_path)
    again = a_server(tmp_path, port=first.port)
    try:
        assert first.start()
        assert not again.start()
        assert again.identity == first.identity != ""
    finally:
        stopped = again.stop()

    assert stopped
    assert not first.is_running()
    assert not first.stop()


def test_server_moves_when_another_port_is_wanted(tmp_path: Path) -> None:
    """A place has one server: asking for another port ends the one at the old port."""
    old, new = a_server(tmp_path), a_server(tmp_path)
    try:
        old.start()
        new.start()

        assert new.is_running()
        assert not old.is_running()
    finally:
        new.stop()


def test_busy_port_is_one_line_that_says_what_to_do(tmp_path: Path) -> None:
    """A port of another program is named, with the way out; the other program is left alone."""
    with socket.create_server((LOOPBACK, 0)) as other:
        port = other.getsockname()[1]

        with pytest.raises(LocalError, match=rf"^port {port}.*make run PORT=\d+`$"):
            a_server(tmp_path, port=port).start()


def test_server_that_ends_at_once_points_to_its_log(tmp_path: Path) -> None:
    """A failed start is told at once, and nothing is recorded of it."""
    server = a_server(tmp_path, command=(sys.executable, "-c", "raise SystemExit('no such thing')"))

    with pytest.raises(LocalError, match=r"did not start.*file-server\.log$"):
        server.start()
    assert server.identity == ""
    assert "no such thing" in server.log.read_text()
