"""Releases of the worker's code on the deployed stack, exchanged as AWS does: who runs goes on with the old one."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import Any

import httpx

from tests.scenarios.stack import DeployedStack, until

RELEASE = PurePosixPath("tests/support/deployed/release.py")


class Releases:
    """The worker's code now, and the next one."""

    def __init__(self, stack: DeployedStack) -> None:
        """Publish the present code as a version of its own and feed that.

        On AWS, invocations that run go on when the code is updated. The local cloud ends the processes of what is
        updated, but not those of a published version.
        """
        self._functions = stack.aws("lambda")
        self._name = stack.outputs["WorkerFunction"]
        self._mapping = self._functions.list_event_source_mappings(FunctionName=self._name)["EventSourceMappings"][0]
        self._usual: bytes = httpx.get(
            self._functions.get_function(FunctionName=self._name)["Code"]["Location"].replace("localhost", "127.0.0.1"),
            trust_env=False,
        ).content
        version = self._functions.publish_version(FunctionName=self._name)["Version"]
        self._feed(f"{self._name}:{version}")

    def deploy_next(self, release: str) -> None:
        """Put the next release's code in the place of the present one, and feed it from now on."""
        self._update(with_release(self._usual, release))
        self._feed(self._name)

    def restore(self) -> None:
        """Put the present code back."""
        self._feed(self._name)
        self._update(self._usual)

    def _update(self, code: bytes) -> None:
        self._functions.update_function_code(FunctionName=self._name, ZipFile=code)
        until(lambda: self._state() == "Successful" or None, "the code is updated")

    def _state(self) -> Any:
        return self._functions.get_function_configuration(FunctionName=self._name)["LastUpdateStatus"]

    def _feed(self, function: str) -> None:
        self._functions.update_event_source_mapping(UUID=self._mapping["UUID"], FunctionName=function)


@contextmanager
def releases(stack: DeployedStack) -> Iterator[Releases]:
    """Deploy another release for a while."""
    deployed = Releases(stack)
    try:
        yield deployed
    finally:
        deployed.restore()


def with_release(code: bytes, release: str) -> bytes:
    """The same bundle with another name of its release; its old bytecode goes, since nobody would check it."""
    made = io.BytesIO()
    stale = f"{RELEASE.parent}/__pycache__/{RELEASE.stem}."
    with (
        zipfile.ZipFile(io.BytesIO(code)) as old,
        zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new,
    ):
        for entry in old.infolist():
            if entry.filename != str(RELEASE) and not entry.filename.startswith(stale):
                new.writestr(entry, old.read(entry))
        new.writestr(str(RELEASE), f"RELEASE = {release!r}\n")
    return made.getvalue()
