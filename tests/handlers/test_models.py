"""The providers that a worker builds from its settings, and the keys that it finds for them."""

from __future__ import annotations

import asyncio
import io
import json
from datetime import timedelta
from typing import Any

import boto3
import pytest
from aws_lambda_powertools import Logger
from moto import mock_aws

from onceward.adapters.system import SystemClock, ThreadRunner
from onceward.domain.records import Usage
from onceward.handlers.models import Models, key_of, member_of, warn_of_old_prices
from onceward.handlers.settings import WorkerSettings
from onceward.providers.http import make_client
from onceward.providers.prices import AS_OF, STALE_AFTER

BY_KIND = {
    "document.analyze": {"api": "anthropic", "url": "https://api.anthropic.com/v1", "name": "claude-haiku-4-5"},
    "text.generate": {"api": "bedrock", "url": "", "name": "amazon.nova-lite-v1:0"},
}
PRICES = {"mine": {"input": 1_000_000, "cached": 500_000, "output": 2_000_000}}


def settings(**changed: Any) -> WorkerSettings:
    """A worker's settings, as its environment gives them."""
    numbers = {name: 1 for name, field in WorkerSettings.model_fields.items() if field.annotation in {int, float}}
    texts = {name: name for name, field in WorkerSettings.model_fields.items() if field.annotation is str}
    models = {"model_api": "openai", "model_url": "http://127.0.0.1/v1", "model_capability": "none"}
    models |= {"targets_are_local": "false"}
    given = {**numbers, **texts, **models, **changed}
    return WorkerSettings.from_environment({f"ONCEWARD_{name.upper()}": str(value) for name, value in given.items()})


@pytest.fixture(autouse=True)
def region(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients are made and never used."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")


def test_everybody_has_one_model_and_a_kind_may_have_its_own() -> None:
    """Chosen by configuration, each by the API that it speaks."""
    models = Models(settings(model_by_kind=json.dumps(BY_KIND)), ThreadRunner(), SystemClock(), make_client)

    assert models.everybodys.name == "openai"
    assert {kind: one.name for kind, one in models.by_kind.items()} == {
        "document.analyze": "anthropic",
        "text.generate": "bedrock",
    }


def test_a_model_may_be_one_that_answers_later() -> None:
    """For everybody or for a kind; what it promises then is its API's to say."""
    url = "http://127.0.0.1/v1"
    later = {
        "document.compare": {"api": "anthropic", "url": url, "name": "claude", "answers": "later"},
        "document.analyze": {"api": "openai", "url": url, "name": "gpt", "answers": "batch"},
    }
    given = settings(model_answers="later", model_by_kind=json.dumps(later))
    models = Models(given, ThreadRunner(), SystemClock(), make_client)
    chosen = [models.everybodys, *models.by_kind.values()]

    assert [one.capability.kept for one in chosen] == [timedelta(minutes=10), timedelta(days=29), timedelta(days=7)]
    assert [one.capability.lookup_lag is None for one in chosen] == [True, False, False]


def test_completions_that_are_stored_can_be_looked_up() -> None:
    """The stage says so; the lag is never shorter than what a list may need."""
    model = Models(settings(model_capability="stored"), ThreadRunner(), SystemClock(), make_client).everybodys

    assert model.capability.lookup_lag == timedelta(minutes=1)


def test_prices_of_one_s_own_go_before_the_table() -> None:
    """And a model that is in neither stays unpriced."""
    own = {**PRICES, "gpt-5-mini": {"input": 1, "cached": 1, "output": 1}}
    model = Models(settings(model_prices=json.dumps(own)), ThreadRunner(), SystemClock(), make_client).everybodys
    million = Usage(input=1_000_000)

    assert [model.price(name, million) for name in ("mine", "gpt-5-mini", "other")] == [1_000_000, 1, None]


@pytest.mark.parametrize(
    ("secret", "key"),
    [
        ("sk-plain", "sk-plain"),
        ("none", ""),
        ('{"openai": "sk-1", "anthropic": "sk-2"}', "sk-2"),
        ('{"openai": "sk-1"}', ""),
        ('{"anthropic": "none"}', ""),
        ("{not json", "{not json"),
    ],
)
def test_one_secret_holds_every_key(secret: str, key: str) -> None:
    """As plain text, or as an object by API."""
    assert key_of("anthropic", secret) == key


@mock_aws
def test_a_rotated_key_is_used_without_a_deploy() -> None:
    """Read once and kept; after five minutes read again."""
    manager = boto3.client("secretsmanager")
    name = manager.create_secret(Name="model", SecretString="sk-old")["ARN"]
    clock = MovedClock()

    async def keys() -> list[str]:
        with ThreadRunner() as threads:
            key = Models(settings(model_secret_id=name), threads, clock, make_client)._key("openai")
            found = [await key()]
            manager.put_secret_value(SecretId=name, SecretString="sk-new")
            found.append(await key())
            clock.seconds += 301
            return [*found, await key()]

    assert asyncio.run(keys()) == ["sk-old", "sk-old", "sk-new"]


class MovedClock(SystemClock):
    """A monotonic clock that a test moves."""

    seconds = 0.0

    def monotonic(self) -> float:
        """As far as it was moved."""
        return self.seconds


def test_an_outdated_price_table_is_told_once_a_cold_start() -> None:
    """Somebody should look; costs are still computed from it."""
    told = io.StringIO()
    logger = Logger(service="test", stream=told)
    warn_of_old_prices(logger, AS_OF + STALE_AFTER)
    assert told.getvalue() == ""
    warn_of_old_prices(logger, AS_OF + STALE_AFTER + timedelta(days=1))
    line = json.loads(told.getvalue())

    assert (line["level"], line["message"], line["prices_as_of"]) == ("WARNING", "price table outdated", "2026-11-30")


@pytest.mark.parametrize(
    ("secret", "credential"),
    [
        ('{"openai": "sk-1", "tracker": "t-1"}', "t-1"),
        ('{"openai": "sk-1"}', ""),
        ("sk-plain-text", ""),
        ('["tracker"]', ""),
        ('{"tracker": {"a": 1}}', ""),
        ('{"tracker": "none"}', ""),
    ],
)
def test_a_target_gets_its_own_member_of_the_secret_and_never_a_models_key(secret: str, credential: str) -> None:
    """A secret that is a model's key as plain text is nobody else's."""
    assert member_of("tracker", secret) == credential
