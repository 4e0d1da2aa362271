"""Name everything a deployment is made of, so that an unchanged one can be left alone.

Hashing the sources takes milliseconds, synthesising them ten seconds: this is what makes a second ``make run`` quick.
Whoever adds a source of the bundle or of the CDK app adds it here; too much only deploys once more than needed.
"""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from onceward.local.places import ROOT

SOURCES = ("functions/onceward", "infra", "tests/support", "locks/lambda.txt")
NOT_DEPLOYED = {"__pycache__", "node_modules", "cdk.out", "local", "cli", "client"}  # the last three run here


def fingerprint(context: Mapping[str, str], root: Path = ROOT) -> str:
    """Hash the sources of the stacks and of the bundle, and the parameters given to them."""
    digest = hashlib.sha256(repr(sorted(context.items())).encode())
    for path in source_files(root):
        digest.update(str(path.relative_to(root)).encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def source_files(root: Path) -> Iterator[Path]:
    """Yield the files that a deployment is made of, in a fixed order."""
    for name in SOURCES:
        source = root / name
        found = sorted(source.rglob("*")) if source.is_dir() else [source]
        for path in found:
            if path.is_file() and not NOT_DEPLOYED & set(path.relative_to(root).parts):
                yield path
