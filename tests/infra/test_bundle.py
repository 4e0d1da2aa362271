"""The bundle: what is in it, what is not, and that it needs nothing beside it but boto3."""

import hashlib
import importlib.util
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra import bundling
from infra.bundling import LOCK, build_bundle, wheels_for
from tests.infra.templates import Assembly, environment, function
from tests.support.bundle_size import LARGEST_UNPACKED, LARGEST_ZIP, MEGABYTE, unpacked

RUNTIME_BRINGS = ("boto3", "botocore", "s3transfer", "jmespath", "dateutil", "six", "urllib3")
UNCHECKED_HASH = 0b01  # PEP 552: hash-based, and not looked up in the source
ELF_MACHINES = {"aarch64": 0xB7, "x86_64": 0x3E}
WHOLE_LOCK = LOCK.read_text(encoding="utf-8")
HANDLERS = ("Api", "Worker", "Sweeper", "TenantToken")


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with what Lambda's own runtime brings, and nothing else of this environment."""
    folder = tmp_path_factory.mktemp("runtime")
    for name in RUNTIME_BRINGS:
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        origin = Path(spec.origin)
        (folder / (name if origin.name == "__init__.py" else origin.name)).symlink_to(
            origin.parent if origin.name == "__init__.py" else origin
        )
    return folder


@pytest.mark.parametrize("name", HANDLERS)
def test_each_handler_is_imported_from_the_bundle_alone(assembly: Assembly, runtime: Path, name: str) -> None:
    """A dependency that is missing from the lock would be found here, and not at the first event."""
    service = assembly.service("local")
    variables = {
        key: value if isinstance(value, str) else "https://text" for key, value in environment(service, name).items()
    }
    module, _, attribute = function(service, name)["Handler"].rpartition(".")
    program = (
        f"import sys; sys.path[:0] = {[str(assembly.bundle('local')), str(runtime)]!r}; "
        f"import importlib; found = importlib.import_module({module!r}); assert callable(found.{attribute}); "
        f"assert found.__file__.startswith({str(assembly.bundle('local'))!r})"
    )
    done = subprocess.run(
        # -S: not even this environment's packages; -I: nothing of the folder or the shell
        [sys.executable, "-I", "-S", "-c", program],
        env={
            **variables,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("stage", ["dev", "local"])
def test_the_bundle_holds_no_code_that_runs_elsewhere(assembly: Assembly, stage: str) -> None:
    """No client, command line, local cloud or test; no boto3, which the runtime brings; no script with our paths."""
    bundle = assembly.bundle(stage)
    top = {path.name for path in bundle.iterdir()}
    ours = {path.name for path in (bundle / "onceward").iterdir()}

    assert not {"tests", "boto3", "botocore", "s3transfer", "bin", "pip", "uv"} & top
    assert not {"client", "cli", "local"} & ours
    assert {"handlers", "domain", "usecases", "adapters"} <= ours
    assert not [path for path in bundle.rglob("*") if "crash" in path.name and "onceward" in path.parts]


def test_only_a_test_bundle_has_the_crash_points(assembly: Assembly) -> None:
    """They are asked for by a parameter, and are a module of tests, never of the package."""
    assert (assembly.bundle("test") / "tests" / "support").is_dir()
    assert not (assembly.bundle("local") / "tests").exists()


@pytest.mark.parametrize("stage", ["dev", "local"])
def test_every_module_ships_compiled_and_unchecked(assembly: Assembly, stage: str) -> None:
    """Zipping changes file times: checked bytecode would be compiled anew at every cold start."""
    bundle = assembly.bundle(stage)
    uncompiled = [path for path in bundle.rglob("*.py") if not _compiled(path).exists()]
    flags = {struct.unpack("<I", path.read_bytes()[4:8])[0] for path in bundle.rglob("*.pyc")}

    assert uncompiled == []
    assert {UNCHECKED_HASH} == flags


@pytest.mark.parametrize(("stage", "processor"), [("dev", "aarch64"), ("local", wheels_for("host").partition("-")[0])])
def test_binaries_are_of_the_functions_architecture(assembly: Assembly, stage: str, processor: str) -> None:
    """A wheel of the wrong platform imports here and fails there."""
    binaries = list(assembly.bundle(stage).rglob("*.so"))
    (architecture,) = function(assembly.service(stage), "Worker")["Architectures"]

    assert len(binaries) > 1
    assert {ELF_MACHINES[processor]} == {struct.unpack("<H", path.read_bytes()[18:20])[0] for path in binaries}
    assert architecture == {"aarch64": "arm64"}.get(processor, processor)


def test_the_bundle_stays_small(assembly: Assembly, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """AWS's, that is; the local cloud's is weighed where it is deployed, which zips it anyhow."""
    bundle = assembly.bundle("dev")
    zipped = Path(shutil.make_archive(str(tmp_path / "bundle"), "zip", bundle)).stat().st_size
    with capsys.disabled():
        print(f"\n  bundle: {zipped / MEGABYTE:.1f} MB zipped, {unpacked(bundle) / MEGABYTE:.1f} MB unpacked")

    assert zipped < LARGEST_ZIP
    assert unpacked(bundle) < LARGEST_UNPACKED


def test_equal_sources_give_equal_bytes(assembly: Assembly, tmp_path: Path) -> None:
    """A deploy without a change changes nothing, from whichever folder it is built, wheels that are kept or not."""
    build_bundle(tmp_path / "again", wheels_for("host"), with_crash_points=False, kept=tmp_path / "kept")
    one, other = dict(_digests(assembly.bundle("local"))), dict(_digests(tmp_path / "again"))
    differing = {path for path, _ in one.items() ^ other.items()}
    edited = {path for path in differing if path.suffix == ".py"}  # by somebody, while the tests ran

    assert differing <= edited | {_compiled(path) for path in edited}


def test_wheels_that_are_kept_are_those_of_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are made ready once for a lock; another lock gets its own, and nothing else stays there."""
    monkeypatch.setattr(bundling, "SOURCE", tmp_path / "source")
    (tmp_path / "source").mkdir()
    found: list[set[str]] = []
    for package in ("annotated-types", "typing-extensions", "annotated-types"):
        monkeypatch.setattr(bundling, "LOCK", _lock_of(package, tmp_path))
        target = tmp_path / f"bundle-{len(found)}"
        build_bundle(target, wheels_for("host"), with_crash_points=False, kept=tmp_path / "kept")
        found.append({path.name.partition("-")[0] for path in target.glob("*.dist-info")})

    assert found == [{"annotated_types"}, {"typing_extensions"}, {"annotated_types"}]
    assert len(list((tmp_path / "kept").iterdir())) == 2


def _lock_of(package: str, folder: Path) -> Path:
    """A lock of one of our lock's packages."""
    lines = re.search(rf"^{package}==.*(\n    .*)*$", WHOLE_LOCK, re.MULTILINE)
    assert lines is not None
    lock = folder / f"{package}.txt"
    lock.write_text(lines[0], encoding="utf-8")
    return lock


def _compiled(path: Path) -> Path:
    return path.parent / "__pycache__" / f"{path.stem}.cpython-313.pyc"


def _digests(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.relative_to(folder), hashlib.sha256(path.read_bytes()).hexdigest()
