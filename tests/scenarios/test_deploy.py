"""What stands is what was synthesised: CloudFormation's word against the templates."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from onceward.local.places import CLOUD_PROGRAMS
from tests.scenarios.stack import DeployedStack
from tests.support.bundle_size import LARGEST_UNPACKED, LARGEST_ZIP, unpacked

STACKS = ("OncewardState-test", "OncewardService-test", "OncewardObservability-test")


def template_of(folder: Path, stack: str) -> dict[str, dict[str, str]]:
    """The resources of a synthesised stack."""
    template = json.loads((folder / "cdk.out-test" / f"{stack}.template.json").read_text())
    resources: dict[str, dict[str, str]] = template["Resources"]
    return resources


@pytest.mark.parametrize("name", STACKS)
def test_stack_stands_with_exactly_the_template_s_resources(stack: DeployedStack, name: str) -> None:
    """Every resource of the template is there and complete, and nothing else is."""
    cloudformation = stack.aws("cloudformation")
    state = cloudformation.describe_stacks(StackName=name)["Stacks"][0]["StackStatus"]
    pages = cloudformation.get_paginator("list_stack_resources").paginate(StackName=name)
    standing = [one for page in pages for one in page["StackResourceSummaries"]]
    wanted = template_of(stack.cloud.folder, name)

    assert state in {"CREATE_COMPLETE", "UPDATE_COMPLETE"}
    assert {one["LogicalResourceId"]: one["ResourceType"] for one in standing} == {
        logical: resource["Type"] for logical, resource in wanted.items()
    }
    assert {one["ResourceStatus"] for one in standing} <= {"CREATE_COMPLETE", "UPDATE_COMPLETE"}


def test_deployed_bundle_stays_small(stack: DeployedStack) -> None:
    """One for all functions, with the wheels of this machine's processor: as it was uploaded, and as it is unpacked."""
    functions = stack.aws("lambda").list_functions()["Functions"]
    (zipped,) = {one["CodeSize"] for one in functions if one["FunctionName"] in stack.outputs.values()}
    (bundle,) = [path for path in (stack.cloud.folder / "cdk.out-test").glob("asset.*") if path.is_dir()]

    assert zipped < LARGEST_ZIP
    assert unpacked(bundle) < LARGEST_UNPACKED


def test_no_process_of_the_cloud_compiles_the_sdk_that_it_brings() -> None:
    """Neither it nor a function may write bytecode: what setup did not compile, each cold start would, in 0.7 s."""
    told = subprocess.run(
        [CLOUD_PROGRAMS / "python", "-v", "-c", "import boto3, botocore.auth"],
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    code = [line.removeprefix("# code object from ") for line in told.splitlines() if "code object from" in line]

    assert [name for name in code if "boto3" in name or "botocore" in name]
    assert [name for name in code if not name.endswith(".pyc'")] == []
