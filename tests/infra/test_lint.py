"""What AWS's own checkers say of the templates."""

import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.infra.templates import Assembly

# The library writes a dependency beside each reference to a role, to wait for the role's policy too.
IGNORED = "W3005"


def test_templates_pass_cfn_lint(assembly: Assembly) -> None:
    """No error and no warning; the stages left out differ from these in values only."""
    linter = str(Path(sys.executable).with_name("cfn-lint"))
    linted = subprocess.run(
        [linter, "--ignore-checks", IGNORED, "--", *map(str, assembly.templates("prod", "own"))],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (linted.returncode, linted.stdout) == (0, "")


def test_cdk_nag_found_nothing(assembly: Assembly) -> None:
    """Whatever AwsSolutions says of these stacks is acknowledged on its construct with a reason."""
    report = json.loads((assembly.folder / "validation-report.json").read_text(encoding="utf-8"))

    assert report["pluginReports"] == []


def test_cdk_nag_has_really_looked(app_module: ModuleType, tmp_path: Path) -> None:
    """A planted queue without TLS is found: the silence above is not that of a check that never ran."""
    app = app_module.new_app(str(tmp_path))
    importlib.import_module("aws_cdk.aws_sqs").Queue(importlib.import_module("aws_cdk").Stack(app, "Planted"), "Open")

    with pytest.raises(RuntimeError, match="AwsSolutions-SQS4"):
        app.synth()
