"""The local cloud: one ministack process that answers for AWS on loopback.

It has a folder of its own for all that it writes, also for what its Lambdas write. Its state is in memory: a new
process is an empty account, which is why a deployment is remembered together with ``identity``.
"""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self, TypedDict

from botocore.config import Config

from onceward.local.environment import REGION, cloud_access, emulator_environment
from onceward.local.failure import LocalError
from onceward.local.places import CLOUD_PROGRAMS
from onceward.local.server import Server, free_port

EMULATOR = CLOUD_PROGRAMS / "ministack"
ON_LOOPBACK = Config(
    retries={"total_max_attempts": 1},  # a retry would only hide what went wrong
    read_timeout=300,  # a function that changes is answered after its processes ended and their files are removed
    max_pool_connections=64,
    proxies={},
)
REMOVALS = 16  # folders removed at a time: a removal waits for the disk, 2,600 times for each process of a function


class CloudAccess(TypedDict):
    """The arguments of ``boto3.client`` that lead to a local cloud."""

    endpoint_url: str
    region_name: str
    aws_access_key_id: str
    aws_secret_access_key: str
    config: Config


class LocalCloud:
    """One emulated AWS account and region; as a context manager it starts and stops it."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        """Describe it; nothing is started yet. Port 0 takes one that is free."""
        self.folder = folder
        port = port or free_port()
        self._server = Server(
            name="local-cloud",
            folder=folder,
            port=port,
            command=[str(EMULATOR)],
            environment=emulator_environment(port, folder),
            health="/_ministack/health",
        )

    def __enter__(self) -> Self:
        """Start it."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it."""
        self.stop()

    @property
    def endpoint_url(self) -> str:
        """Where every AWS client finds it."""
        return self._server.url

    @property
    def log(self) -> Path:
        """Where it writes; what its Lambdas write is in CloudWatch Logs, as on AWS."""
        return self._server.log

    @property
    def identity(self) -> str:
        """Name this process; another identity is an empty account."""
        return self._server.identity

    @property
    def access(self) -> CloudAccess:
        """What a boto3 client needs to reach it: ``boto3.client("sqs", **cloud.access)``."""
        keys = cloud_access(self.endpoint_url)
        return {
            "endpoint_url": self.endpoint_url,
            "region_name": REGION,
            "aws_access_key_id": keys["AWS_ACCESS_KEY_ID"],
            "aws_secret_access_key": keys["AWS_SECRET_ACCESS_KEY"],
            "config": ON_LOOPBACK,
        }

    def is_running(self) -> bool:
        """Tell whether it runs and answers."""
        return self._server.is_running()

    def require_place(self) -> None:
        """Refuse what is in the way of a start, before anything is ended: this folder's cloud is never moved."""
        if port := self._server.runs_elsewhere():
            raise LocalError(f"a stack runs on port {port}: `make stop` first")
        self._server.require_place()

    def start(self) -> bool:
        """Start it unless it runs; tell whether it was started. ``LocalError`` says what is in the way."""
        if not EMULATOR.exists():
            raise LocalError("the local cloud is not installed: run `make setup`")
        if not self.is_running():
            self.require_place()
            self._forget_files()
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / "tmp").mkdir()
            (self.folder / "state").mkdir(mode=0o700)  # signing keys
        return self._server.start()

    def stop(self) -> bool:
        """End it, its Lambdas and its temporary files; tell whether it ran. Stopping twice is fine."""
        ran = self._server.stop()
        self._forget_files()
        return ran

    def _forget_files(self) -> None:
        """Remove what a process left: every function, unpacked, and the keys of its user pools."""
        tmp = self.folder / "tmp"
        with ThreadPoolExecutor(REMOVALS) as pool:
            for folder in tmp.glob("*/"):
                pool.submit(shutil.rmtree, folder, ignore_errors=True)
        for whole in (tmp, self.folder / "state"):
            shutil.rmtree(whole, ignore_errors=True)
