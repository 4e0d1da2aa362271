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


def test_the_synthesis_found_nothing(assembly: Assembly) -> None:
    """Whatever AwsSolutions says is acknowledged on its construct with a reason; CloudFormation's rules say nothing."""
    assert _reports(assembly.folder) == {}


def test_the_synthesis_has_really_looked(app_module: ModuleType, tmp_path: Path) -> None:
    """A planted queue without TLS and one of no shape are found: the silence above is not that of a missing check."""
    app = app_module.new_app(str(tmp_path))
    cdk = importlib.import_module("aws_cdk")
    stack = cdk.Stack(app, "Planted")
    importlib.import_module("aws_cdk.aws_sqs").Queue(stack, "Open")
    cdk.CfnResource(stack, "Shapeless", type="AWS::SQS::Queue", properties={"VisibilityTimeout": "long"})

    with pytest.raises(RuntimeError, match="AwsSolutions-SQS4"):
        app.synth()
    assert _reports(tmp_path) == {
        "AwsSolutions": ["AwsSolutions-SQS3", "AwsSolutions-SQS4"],
        "CloudFormation Validate": ["F3012"],
    }


def _reports(folder: Path) -> dict[str, list[str]]:
    """Who found fault in a synthesis, by which rules."""
    report = json.loads((folder / "validation-report.json").read_text(encoding="utf-8"))
    return {one["pluginName"]: sorted(v["ruleName"] for v in one["violations"]) for one in report["pluginReports"]}
