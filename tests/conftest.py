"""Keep every test away from the user's AWS account: no test may find credentials or a region by accident."""

import gc
import os
from collections.abc import Generator
from functools import cache

import botocore.session
import httpx
import pytest
from botocore.loaders import create_loader

from onceward.local.environment import forget_aws
from tests.support.emulators import ministack, moto_aws

__all__ = ["ministack", "moto_aws"]  # fixtures; one of each, so that a session starts one cloud

forget_aws(os.environ)
# A client takes 60 ms to make, 50 of them for AWS's models; read once, they serve all sessions of all tests.
botocore.session.create_loader = cache(create_loader)
# And one of httpx, nearly all of it for the roots of every authority on earth.
_tls = httpx._transports.default
_tls.create_ssl_context = cache(_tls.create_ssl_context)  # type: ignore[attr-defined]


@pytest.fixture
def anyio_backend() -> str:
    """Coroutine tests run on asyncio, which is what a Lambda has."""
    return "asyncio"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Search for no garbage while modules and thousands of tests are made: nearly all of it is kept."""
    gc.disable()
    try:
        return (yield)
    finally:
        _take_out_what_is_kept()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """After a file's last test, so that what its tests loaded is not searched by every later one that collects."""
    try:
        return (yield)
    finally:
        if nextitem is None or nextitem.path != item.path:
            _take_out_what_is_kept()


def _take_out_what_is_kept() -> None:
    """Take what is alive out of every later search for garbage, and first what is not: leaks are still told."""
    gc.collect()
    gc.freeze()
