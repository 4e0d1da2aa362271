"""The template for the local cloud is the one for AWS, but for one list."""

import json
import re

import pytest

from infra.local_differences import LOCAL_DIFFERENCES, LOCAL_STACKS_LEFT_OUT, Difference
from tests.infra.templates import Assembly, Template, flattened


@pytest.fixture(scope="module")
def differing(assembly: Assembly) -> set[str]:
    """Collect the paths at which the two templates are not equal, the stage's own name apart."""
    return {
        path
        for aws, local in (
            (assembly.state("dev"), assembly.state("local")),
            (assembly.service("dev"), assembly.service("local")),
        )
        for path, _ in set(flattened(_unnamed(aws, "dev"))) ^ set(flattened(_unnamed(local, "local")))
    }


def test_local_and_aws_templates_differ_only_as_listed(differing: set[str]) -> None:
    """What runs locally is what goes to AWS; whatever is not has a reason in the list."""
    unlisted = [path for path in differing if not any(re.fullmatch(each.path, path) for each in LOCAL_DIFFERENCES)]

    assert sorted(unlisted) == []


def test_stacks_that_are_left_out_locally_are_listed(assembly: Assembly) -> None:
    """A stack that only AWS gets has a reason in the list, and none of the list is deployed locally."""
    stacks = {
        stage: {path.name.removesuffix(f"-{stage}.template.json") for path in assembly.templates(stage)}
        for stage in ("dev", "local")
    }

    assert stacks["dev"] - stacks["local"] == LOCAL_STACKS_LEFT_OUT.keys()
    assert all(LOCAL_STACKS_LEFT_OUT.values())


@pytest.mark.parametrize("listed", LOCAL_DIFFERENCES, ids=lambda each: each.path)
def test_each_entry_of_the_list_still_tells_a_difference(differing: set[str], listed: Difference) -> None:
    """An entry that outlived its difference would hide the next one."""
    assert any(re.fullmatch(listed.path, path) for path in differing)


def _unnamed(template: Template, stage: str) -> Template:
    """Take the stage's name out of a template: in names of stacks, exports and domain, tag and variable."""
    text = re.sub(rf'"\w*OncewardService{stage}\w*"', lambda found: _without_hashes(found[0]), json.dumps(template))
    text = re.sub(rf"(OncewardState|OncewardService|onceward-)-?{stage}(?=\b|[A-Z])", r"\1STAGE", text)
    for key in ("ONCEWARD_STAGE", "onceward:stage"):
        text = text.replace(f'"{key}": "{stage}"', f'"{key}": "STAGE"')
    unnamed: Template = json.loads(
        text.replace(f'"Key": "onceward:stage", "Value": "{stage}"', '"Key": "onceward:stage"')
    )
    return unnamed


def _without_hashes(logical_id: str) -> str:
    """A logical id that was made of two constructs' paths carries hashes of the stack's name."""
    return re.sub(r"[0-9A-F]{8}", "", logical_id)
