"""The local cloud answers on loopback only, starts empty, and leaves nothing when it stops."""

import socket
from pathlib import Path

import boto3
import pytest

from onceward.local.cloud import LocalCloud
from onceward.local.programs import start_mark


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the cloud a folder."""
    return tmp_path_factory.mktemp("cloud")


def test_cloud_starts_answers_and_leaves_nothing_behind(folder: Path) -> None:
    """From start to stop: an empty account at a free port of loopback, then no process and no temporary files."""
    with LocalCloud(folder) as cloud:
        process = int(cloud.identity.partition(":")[0])
        port = int(cloud.endpoint_url.rpartition(":")[2])

        assert boto3.client("dynamodb", **cloud.access).list_tables()["TableNames"] == []
        assert (folder / "state").stat().st_mode & 0o077 == 0
        # A listener on all interfaces would also answer at loopback's second address.
        assert (accepts("127.0.0.1", port), accepts("127.0.0.2", port)) == (True, False)

    assert start_mark(process) == ""
    assert not (folder / "tmp").exists()
    assert not (folder / "state").exists()
    assert not cloud.is_running()


def accepts(address: str, port: int) -> bool:
    """Tell whether somebody listens there."""
    with socket.socket() as probe:
        return probe.connect_ex((address, port)) == 0
