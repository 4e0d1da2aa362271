"""One stack for all scenarios: started once, deployed once by the real CDK, ended with everything it started."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import boto3
import pytest

from onceward.domain.names import TenantId
from onceward.local.cloud import LocalCloud
from onceward.local.deploy import bootstrap, deploy
from onceward.local.model import STAND_IN_MODEL
from onceward.local.tenants import TENANTS, enrol, tokens
from tests.scenarios.models import MODEL_KEY, models_by_kind
from tests.scenarios.stack import DeployedStack
from tests.scenarios.witness import Witness
from tests.support.deployed.actions import HOST
from tests.support.model_server import ModelServer
from tests.support.tracker import Tracker

TIMES = {
    "lease_seconds": "3",  # a crash is retried after one of these
    "heartbeat_seconds": "1",
    "skew_allowance_seconds": "0.5",
    "due_grace_seconds": "1",
    "send_window_seconds": "2",
    "settle_seconds": "2",
    "lookup_lag_seconds": "0.2",
    "breaker_pause_seconds": "3",  # and a probe every half second
    "infrastructure_backoff_seconds": "1",
    "infrastructure_backoff_max_seconds": "2",
}


LOOK_BACK = {"test_alarms.py": 1, "test_privacy.py": 2}  # in this order, after everything else

MEMORY = Path("/dev/shm")  # where Linux keeps files in memory
ROOM = 8 << 30  # bytes; fifty processes at once have unpacked three of these gigabytes

# Beside the demo's: tenants with accounts, whose jobs are lost, frozen and cancelled.
EVERYBODY = {**TENANTS, "initech": "initech", "umbrella": "umbrella", "hooli": "hooli", "cyberdyne": "cyberdyne"}
CLIENTS = ",".join(f"{name}=jobs:read+jobs:write+actions+ops" if name == "operator" else name for name in EVERYBODY)


def in_memory() -> Path | None:
    """Where the cloud's files cost no disk; ``None``: nowhere, so they go to the usual place.

    Each process of a function has its bundle unpacked, thousands of files. To remove those of fifty has taken a disk
    more than five minutes, and the cloud answers nobody while it removes.
    """
    has_room = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= ROOM
    return MEMORY if has_room and not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC else None


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeployedStack]:
    """The deployed stack; the sweeper runs only when a test invokes it."""
    with (
        ModelServer() as model,
        Tracker(tmp_path_factory.mktemp("tracker")) as tracker,
        TemporaryDirectory(prefix="onceward-", dir=in_memory(), ignore_cleanup_errors=True) as folder,
        LocalCloud(Path(folder) / "cloud") as cloud,
    ):
        bootstrap(cloud)
        context = {
            "platform": "host",
            "observability": "true",
            "model_url": model.base_url,
            "model_name": STAND_IN_MODEL,
            "test_handlers": "true",
            "clients": CLIENTS,
            "maximum_concurrency": "3",  # of the worker's processes: each new one takes seconds of two cores
            "model_by_kind": models_by_kind(model.base_url),
            "target_origins": json.dumps({HOST: tracker.url}),
            **TIMES,
        }
        outputs = deploy(cloud, "test", context)
        boto3.client("secretsmanager", **cloud.access).put_secret_value(
            SecretId=outputs["ModelSecretArn"], SecretString=MODEL_KEY
        )
        enrol(cloud.access, outputs, EVERYBODY)
        issued = tokens(cloud.access, outputs, EVERYBODY)
        deployed = DeployedStack(cloud=cloud, outputs=outputs, tokens=issued, model=model, tracker=tracker)
        deployed.schedule(is_on=False)
        yield deployed


@pytest.fixture(scope="session")
def witness(stack: DeployedStack) -> Witness:
    """The evidence about the jobs of a tenant with an account."""
    witness = Witness(stack=stack, tenant=TenantId("initech"))
    witness.open_account()
    return witness


@pytest.fixture
def model(stack: DeployedStack) -> Iterator[ModelServer]:
    """The model server with nothing counted and no behaviour set."""
    stack.model.reset()
    yield stack.model
    stack.model.reset()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What looks through the session's logs and queues comes when everything else has been logged."""
    items.sort(key=lambda item: LOOK_BACK.get(item.path.name, 0))
