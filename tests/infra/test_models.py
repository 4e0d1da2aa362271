"""Which models a stage asks, what the worker is told of them, and what it may do for that."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from infra.config import StageConfig
from onceward.handlers.settings import PREFIX, WorkerSettings
from tests.infra.templates import Assembly, environment, properties

PLACE = "arn:AWS::Partition:bedrock:AWS::Region"


def allowed(assembly: Assembly, stage: str) -> set[str]:
    """The models that the worker's role may invoke, their ARNs spelt out."""
    found = set()
    for policy in properties(assembly.service(stage), "AWS::IAM::Policy"):
        for statement in policy["PolicyDocument"]["Statement"]:
            actions = statement["Action"]
            if "bedrock:InvokeModel" in (actions if isinstance(actions, list) else [actions]):
                listed = statement["Resource"]
                found |= {spelt(one) for one in (listed if isinstance(listed, list) else [listed])}
    return found


def spelt(arn: Any) -> str:
    """An ARN with its references by name."""
    parts = arn["Fn::Join"][1] if isinstance(arn, dict) else [arn]
    return "".join(part if isinstance(part, str) else str(part["Ref"]) for part in parts)


def test_without_bedrock_nobody_may_invoke_a_model(assembly: Assembly) -> None:
    """The action is granted only where it was chosen."""
    assert allowed(assembly, "dev") == allowed(assembly, "prod") == set()


def test_with_bedrock_exactly_the_chosen_models_may_be_invoked(assembly: Assembly) -> None:
    """A profile with the model behind it in any region; a plain model in this one."""
    assert allowed(assembly, "aws") == {
        f"{PLACE}:AWS::AccountId:inference-profile/eu.anthropic.claude-sonnet-5",
        "arn:AWS::Partition:bedrock:*::foundation-model/anthropic.claude-sonnet-5",
        "arn:AWS::Partition:bedrock:::foundation-model/anthropic.claude-sonnet-5",
        f"{PLACE}::foundation-model/amazon.nova-lite-v1:0",
    }


def test_the_worker_is_told_the_models_of_its_kinds(assembly: Assembly) -> None:
    """As the settings read them."""
    told = {name: str(value) for name, value in environment(assembly.service("aws"), "Worker").items()}
    settings = WorkerSettings.from_environment(told | {f"{PREFIX}JOBS_TABLE": "t"})

    assert (settings.model_api, settings.model_url) == ("bedrock", "")
    assert settings.model_by_kind["text.generate"].name == "amazon.nova-lite-v1:0"


def test_the_page_names_every_parameter() -> None:
    """Neither one is missing nor one made up."""
    page = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `(model_\w+)` \|", page, re.MULTILINE)

    assert named == [name for name in StageConfig.model_fields if name.startswith("model_")]


@pytest.mark.parametrize(
    ("given", "url", "name"),
    [
        ({}, "https://api.openai.com/v1", "gpt-5-mini"),
        ({"model_api": "anthropic"}, "https://api.anthropic.com/v1", "claude-haiku-4-5"),
        ({"model_api": "anthropic", "model_name": "claude-opus-5"}, "https://api.anthropic.com/v1", "claude-opus-5"),
        ({"model_api": "bedrock"}, "", "global.anthropic.claude-haiku-4-5-20251001-v1:0"),
    ],
)
def test_an_api_brings_its_address_and_a_small_model(given: dict[str, object], url: str, name: str) -> None:
    """Whoever names only the API gets something that works."""
    config = StageConfig.of(given)

    assert (config.model_url, config.model_name) == (url, name)


def test_a_kind_s_model_and_prices_of_one_s_own_are_json_on_the_command_line() -> None:
    """Filled in by the API's defaults, and told to the worker as equal text."""
    prices = {"mine": {"input": 1_000_000, "cached": 500_000, "output": 2_000_000}}
    config = StageConfig.of(
        {"model_by_kind": '{"document.analyze": {"api": "anthropic"}}', "model_prices": json.dumps(prices)}
    )

    assert config.model_by_kind["document.analyze"].name == "claude-haiku-4-5"
    assert config.model_prices["mine"].output == 2_000_000


@pytest.mark.parametrize(
    "given",
    [
        {"model_api": "anthropic", "model_capability": "lookup"},
        {"model_api": "bedrock", "model_capability": "dedupes"},
        {"model_by_kind": '{"a": {"api": "anthropic", "capability": "lookup"}}'},
        {"model_api": "anthropic", "model_capability": "stored"},
        {"model_api": "bedrock", "model_answers": "later"},
        {"model_answers": "later", "model_capability": "dedupes"},
        {"model_answers": "batch", "model_capability": "stored"},
        {"model_api": "anthropic", "model_answers": "batch"},
        {"model_by_kind": '{"a": {"api": "bedrock", "answers": "batch"}}'},
        {"model_by_kind": '{"a": {"api": "bedrock", "answers": "later"}}'},
        {"model_by_kind": '{"a": {"api": "cohere"}}'},
        {"model_by_kind": '{"a": {"api": "openai", "key": "sk-secret"}}'},
        {"model_prices": '{"m": {"input": -1, "cached": 0, "output": 0}}'},
    ],
)
def test_a_promise_that_no_server_keeps_is_refused(given: dict[str, object]) -> None:
    """At synth, before anything is deployed; and no key is a parameter."""
    with pytest.raises(ValidationError):
        StageConfig.of(given)
