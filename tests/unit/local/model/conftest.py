"""One stand-in process for a module, as if newly started for each test."""

from collections.abc import Iterator

import httpx
import pytest

from tests.support.model_server import ModelServer


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    """One process for the module."""
    with ModelServer() as running:
        yield running


@pytest.fixture
def model(server: ModelServer) -> Iterator[ModelServer]:
    """The process as if newly started."""
    server.reset()
    yield server
    server.reset()
    server.wait_idle()


@pytest.fixture
def client(server: ModelServer) -> Iterator[httpx.Client]:
    """A client that never repeats a request."""
    with httpx.Client(base_url=server.base_url, timeout=20) as opened:
        yield opened
