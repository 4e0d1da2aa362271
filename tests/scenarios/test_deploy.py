"""What stands is what was synthesised: CloudFormation's word against the templates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.scenarios.stack import DeployedStack

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
