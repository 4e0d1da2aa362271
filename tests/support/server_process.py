"""Run one of this machine's servers as a separate process from tests: start it, wait until it is ready, end it."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

_FUNCTIONS = Path(__file__).resolve().parents[2] / "functions"
_GRACE = 3.0  # seconds between TERM and KILL; a server needs a tenth of one


class ServerProcess:
    """A running server on a port of its own: `with ...(...) as server: ...`.

    The process also ends when this one does, however that dies: it watches the pipe to its standard input.
    """

    def __init__(self, module: str, *options: str, port: int = 0) -> None:
        self._command = [sys.executable, "-m", module, "--port", str(port), "--until-stdin-closes", *options]
        self._process: subprocess.Popen[str] | None = None
        self.url = ""

    def __enter__(self) -> Self:
        environment = {**os.environ, "PYTHONPATH": str(_FUNCTIONS), "PYTHONDONTWRITEBYTECODE": "1"}
        self._process = subprocess.Popen(
            self._command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        ready = re.search(r"http://\S+", self._process.stdout.readline())
        if ready is None:
            self.stop()
            raise RuntimeError("the server did not start")
        self.url = ready[0]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End the process: TERM, then KILL."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process = None

    @property
    def process(self) -> subprocess.Popen[str]:
        """The running process, for tests that freeze or kill it."""
        assert self._process is not None
        return self._process
