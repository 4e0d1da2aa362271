"""Keep every test away from the user's AWS account: no test may find credentials or a region by accident."""

import gc
import os
from functools import cache

import botocore.session
import pytest
from botocore.loaders import create_loader

from onceward.local.environment import forget_aws
from tests.support.emulators import ministack, moto_aws

__all__ = ["ministack", "moto_aws"]  # fixtures; one of each, so that a session starts one cloud

forget_aws(os.environ)
# A client takes 60 ms to make, 50 of them for AWS's models; read once, they serve all sessions of all tests.
botocore.session.create_loader = cache(create_loader)


@pytest.fixture
def anyio_backend() -> str:
    """Coroutine tests run on asyncio, which is what a Lambda has."""
    return "asyncio"


def pytest_collection_finish() -> None:
    """Take what the whole run keeps (modules, thousands of tests) out of every later search for garbage."""
    gc.collect()
    gc.freeze()
