"""A deployment is left alone only if nothing that it is made of has changed."""

from pathlib import Path

import pytest

from onceward.local.fingerprint import SOURCES, fingerprint
from onceward.local.places import ROOT

CONTEXT = {"stage": "dev"}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Make a checkout with one file of each source, and some of what is not deployed."""
    for name in (
        "functions/onceward/domain/job.py",
        "functions/onceward/local/run.py",
        "infra/app.py",
        "infra/node_modules/aws-cdk/index.js",
        "tests/support/crash.py",
        "locks/lambda.txt",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path


@pytest.mark.parametrize(
    "changed", ["functions/onceward/domain/job.py", "infra/app.py", "tests/support/crash.py", "locks/lambda.txt"]
)
def test_change_of_a_source_changes_the_fingerprint(checkout: Path, changed: str) -> None:
    """Whatever goes into stacks or bundle is deployed again when it changes."""
    before = fingerprint(CONTEXT, checkout)

    (checkout / changed).write_text("changed")

    assert fingerprint(CONTEXT, checkout) != before


@pytest.mark.parametrize("changed", ["functions/onceward/local/run.py", "infra/node_modules/aws-cdk/index.js"])
def test_change_of_what_is_not_deployed_does_not_count(checkout: Path, changed: str) -> None:
    """What runs on this machine alone causes no deployment."""
    before = fingerprint(CONTEXT, checkout)

    (checkout / changed).write_text("changed")

    assert fingerprint(CONTEXT, checkout) == before


def test_other_parameters_are_another_deployment(checkout: Path) -> None:
    """The parameters of the CDK app are part of what is deployed."""
    assert fingerprint({"stage": "dev"}, checkout) != fingerprint({"stage": "prod"}, checkout)


def test_every_source_is_there() -> None:
    """A source that was renamed is noticed here, not by a deployment that was wrongly left alone."""
    assert [name for name in SOURCES if not (ROOT / name).exists()] == []
