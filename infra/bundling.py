"""Fill a folder with everything that a function needs: our package and the locked wheels, without Docker.

Equal sources give equal bytes, so a deploy without a change changes nothing: wheels come from the hash lock,
bytecode names its files as Lambda sees them, and what the installer notes about the machine is removed.
"""

from __future__ import annotations

import os
import platform as machine
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "functions" / "onceward"
LOCK = ROOT / "locks" / "lambda.txt"
TEST_HANDLERS = ROOT / "tests" / "support" / "deployed"
PYTHON = "3.13"
KEPT = ROOT / ".local" / "wheels"  # git-ignored
TASK_ROOT = "/var/task"  # where Lambda unpacks the asset
LEFT_OUT = ("cli", "client", "local")  # they run on a user's machine, never in a function
MACHINE_NOTES = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json")
HOST_PLATFORMS = {
    "x86_64": "x86_64-manylinux2014",
    "aarch64": "aarch64-manylinux2014",
    "arm64": "aarch64-manylinux2014",
}


def wheels_for(platform: str) -> str:
    """Name the wheels' platform; ``host`` is this machine's processor, for a cloud that runs functions on it."""
    return HOST_PLATFORMS[machine.machine()] if platform == "host" else platform


def build_bundle(target: Path, wheels: str, *, with_crash_points: bool, kept: Path = KEPT) -> None:
    """Write everything that a function needs into ``target``, and nothing else; ``kept`` holds wheels made ready."""
    if sys.version_info[:2] != tuple(map(int, PYTHON.split("."))):
        raise RuntimeError(f"the bundle's bytecode is for Python {PYTHON}; this is {machine.python_version()}")
    shutil.copytree(_ready_wheels(wheels, kept), target, dirs_exist_ok=True)
    ours = {SOURCE: target / "onceward"}
    if with_crash_points:
        ours[TEST_HANDLERS] = target / TEST_HANDLERS.relative_to(ROOT)
    for source, place in ours.items():
        shutil.copytree(source, place, ignore=_unwanted)
    _compile(target, *ours.values())


def _ready_wheels(wheels: str, kept: Path) -> Path:
    """The lock's wheels, installed and compiled once for each lock, platform and Python: most of a bundle's time.

    They appear under their name when they are whole, so who dies here, or does the same beside us, leaves no half.
    """
    state = "\0".join([LOCK.read_text(encoding="utf-8"), wheels, sys.version])
    ready = kept / f"{wheels}-{sha256(state.encode()).hexdigest()[:16]}"
    if not ready.exists():
        kept.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=kept) as folder:
            making = Path(folder) / "wheels"
            _install_wheels(making, wheels)
            _remove_machine_notes(making)
            _compile(making, making)
            try:
                making.rename(ready)
            except OSError:
                if not ready.exists():  # else somebody was quicker
                    raise
    return ready


def _unwanted(folder: str, names: list[str]) -> set[str]:
    """Leave out what runs elsewhere, and bytecode of this machine."""
    here = Path(folder)
    return {name for name in names if name == "__pycache__" or (here == SOURCE and name in LEFT_OUT)}


def _install_wheels(target: Path, wheels: str) -> None:
    """Install the lock's wheels for the target's platform; building from source would be for this machine's."""
    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if beside.exists() else "uv"
    command = [uv, "pip", "install", "--quiet", "--no-progress", "--target", str(target), "--link-mode", "copy"]
    command += ["--python", sys.executable, "--python-version", PYTHON, "--python-platform", wheels]
    command += ["--only-binary", ":all:", "--require-hashes", "--requirements", str(LOCK)]
    _run(command)


def _remove_machine_notes(target: Path) -> None:
    """Remove scripts with this machine's paths and the installer's notes; package metadata stays."""
    shutil.rmtree(target / "bin", ignore_errors=True)
    (target / ".lock").unlink(missing_ok=True)
    for information in target.glob("*.dist-info"):
        for name in MACHINE_NOTES:
            (information / name).unlink(missing_ok=True)


def _compile(target: Path, *folders: Path) -> None:
    """Compile unchecked: the asset's zip changes file times, and a stale check would compile at each cold start."""
    command = [sys.executable, "-m", "compileall", "-q", "-j", "0", "--invalidation-mode", "unchecked-hash"]
    _run([*command, "-s", str(target), "-p", TASK_ROOT, *map(str, folders)], PYTHONHASHSEED="0")


def _run(command: list[str], **environment: str) -> None:
    """Run a tool and turn its failure into one message that shows what it said."""
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[:3])} failed while bundling:\n{done.stdout}{done.stderr}")
