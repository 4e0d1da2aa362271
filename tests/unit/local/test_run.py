"""``make run`` refuses early: a run that cannot begin ends nothing that runs."""

import os
import socket
import sys
from pathlib import Path

import pytest

from onceward.local.cloud import LocalCloud
from onceward.local.failure import LocalError
from onceward.local.run import LAST_PORT, require_places, whole_number
from onceward.local.server import LOOPBACK, Server, free_port


def a_server(folder: Path, name: str, port: int) -> Server:
    """Describe a file server of that name."""
    return Server(
        name=name,
        folder=folder,
        port=port,
        command=(sys.executable, "-m", "http.server", "--bind", LOOPBACK, str(port)),
        environment={"PATH": os.environ["PATH"]},
        health="/",
    )


def test_stack_on_another_port_is_named_and_goes_on(tmp_path: Path) -> None:
    """The cloud of this folder is not moved: its contents would be gone."""
    running = a_server(tmp_path, "local-cloud", free_port())
    running.start()
    try:
        with pytest.raises(LocalError, match=rf"^a stack runs on port {running.port}: `make stop` first$"):
            LocalCloud(tmp_path, free_port()).require_place()
        with pytest.raises(LocalError, match="make stop"):
            LocalCloud(tmp_path, free_port()).start()
        assert running.is_running()
    finally:
        running.stop()


def test_busy_second_port_is_told_before_anything_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model server's port is looked at together with the cloud's."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ONCEWARD_MODEL_URL"):
        monkeypatch.delenv(name, raising=False)
    with socket.create_server((LOOPBACK, 0)) as other:
        busy = other.getsockname()[1]

        with pytest.raises(LocalError, match=rf"^port {busy}, wanted by the model-server"):
            require_places(LocalCloud(tmp_path, free_port()), a_server(tmp_path, "model-server", busy))
    assert list(tmp_path.iterdir()) == []


def test_busy_port_does_not_end_the_server_of_an_earlier_run(tmp_path: Path) -> None:
    """Moving to a port that is taken leaves the old server where it is."""
    running = a_server(tmp_path, "model-server", free_port())
    running.start()
    try:
        with socket.create_server((LOOPBACK, 0)) as other, pytest.raises(LocalError, match="in use"):
            a_server(tmp_path, "model-server", other.getsockname()[1]).start()
        assert running.is_running()
    finally:
        running.stop()


@pytest.mark.parametrize("given", ["0", "65535", "-1", "80a", "", "²", "9" * 5000])
def test_port_that_is_none_is_told_by_its_range(given: str) -> None:
    """Words and numbers out of range are answered alike, in one line."""
    with pytest.raises(LocalError, match=r"^PORT is between 1 and 65533$"):
        whole_number("PORT", given, LAST_PORT)


def test_port_in_range_is_taken() -> None:
    """The last one leaves room for the model server's."""
    assert [whole_number("PORT", given, LAST_PORT) for given in ("1", "65533")] == [1, 65_533]
