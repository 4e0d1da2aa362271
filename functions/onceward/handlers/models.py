"""Build the providers that a deployment chose: one for everybody, others for some kinds.

httpx and Bedrock's client are imported here, and only if they are needed: each costs a cold start a tenth of a second.
One secret holds the keys, as plain text or as a JSON object by API; it is read when first needed and kept for five
minutes, so a rotated key needs no deploy.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import date, timedelta
from typing import TYPE_CHECKING, assert_never

import boto3
from aws_lambda_powertools import Logger
from botocore.config import Config

from onceward.adapters.secrets import CONFIG as SECRETS
from onceward.adapters.secrets import Secrets
from onceward.adapters.threads import Threads
from onceward.domain.endpoint import Endpoint
from onceward.handlers.settings import KindModel, ModelApi, WorkerSettings
from onceward.providers.capabilities import capability_of
from onceward.providers.prices import AS_OF, PRICES, Price, is_outdated
from onceward.usecases.http_target import HttpTarget
from onceward.usecases.ports import Clock, Provider

if TYPE_CHECKING:  # httpx is imported where it is needed; stubs exist for the checker only
    import httpx
    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient

NO_KEY = "none"  # what the secret holds where the model asks for no key: Secrets Manager keeps no empty text


class Models:
    """The providers of one execution environment; made once, each for its own model."""

    def __init__(
        self, settings: WorkerSettings, threads: Threads, clock: Clock, http: Callable[[], httpx.AsyncClient]
    ) -> None:
        """Remember what was chosen; nothing is built or asked yet. ``http``: the one client of all that speak HTTP."""
        self._settings = settings
        self._threads = threads
        self._clock = clock
        self._http = http
        self._secrets = Secrets(boto3.client("secretsmanager", config=SECRETS), threads, clock)
        own = {name: Price(**price.model_dump()) for name, price in settings.model_prices.items()}
        self._prices: Mapping[str, Price] = {**PRICES, **own}

    @property
    def everybodys(self) -> Provider:
        """The model of every kind that has no other."""
        chosen = self._settings
        return self._provider(
            KindModel(
                api=chosen.model_api,
                url=chosen.model_url,
                name=chosen.model_name,
                capability=chosen.model_capability,
                answers=chosen.model_answers,
            )
        )

    @property
    def by_kind(self) -> dict[str, Provider]:
        """The models of the kinds that have one of their own."""
        return {kind: self._provider(model) for kind, model in self._settings.model_by_kind.items()}

    def _provider(self, model: KindModel) -> Provider:
        """One model's provider."""
        if model.answers != "now":
            return self._later(model)
        match model.api:
            case "openai":
                return self._openai(model)
            case "anthropic":
                return self._anthropic(model)
            case "bedrock":
                return self._bedrock(model)
            case _:
                assert_never(model.api)

    def _later(self, model: KindModel) -> Provider:
        """A model that is not waited for; which promises such a one makes is its API's to say, and nobody else's."""
        from onceward.providers import anthropic_batches, openai_batches, openai_responses  # noqa: PLC0415
        from onceward.providers.http_model import HttpModelTarget  # noqa: PLC0415

        made: Callable[..., Provider]
        match model.api, model.answers:
            case "openai", "batch":
                made, capability = openai_batches.OpenAIBatches, openai_batches.CAPABILITY
            case "openai", _:
                made, capability = openai_responses.OpenAIResponses, openai_responses.CAPABILITY
            case _:
                made, capability = anthropic_batches.AnthropicBatches, anthropic_batches.CAPABILITY
        target = HttpModelTarget(base_url=model.url, model=model.name, capability=capability, name=model.api)
        return made(self._http(), target, self._key(model.api), self._clock, self._prices)

    def _openai(self, model: KindModel) -> Provider:
        """A model behind chat completions."""
        from onceward.providers.openai_chat import ChatTarget, OpenAIChat  # noqa: PLC0415

        lag = timedelta(seconds=self._settings.lookup_lag_seconds)
        capability = capability_of(model.capability, lookup_lag=lag)
        target = ChatTarget(
            base_url=model.url,
            model=model.name,
            capability=capability,
            name=model.api,
            is_stored=model.capability == "stored",
        )
        return OpenAIChat(self._http(), target, self._key(model.api), self._clock, self._prices)

    def _anthropic(self, model: KindModel) -> Provider:
        """A model behind Anthropic's messages."""
        from onceward.providers.anthropic_messages import AnthropicMessages, MessagesTarget  # noqa: PLC0415

        capability = capability_of(model.capability)
        target = MessagesTarget(base_url=model.url, model=model.name, capability=capability, name=model.api)
        return AnthropicMessages(self._http(), target, self._key(model.api), self._clock, self._prices)

    def _bedrock(self, model: KindModel) -> Provider:
        """A model behind Bedrock's Converse; it signs with the function's own role and needs no key."""
        from onceward.providers.bedrock_converse import BedrockConverse, ConverseTarget  # noqa: PLC0415

        def client(config: Config) -> BedrockRuntimeClient:
            return boto3.client("bedrock-runtime", config=config, endpoint_url=model.url or None)

        target = ConverseTarget(model=model.name, name=model.api)
        return BedrockConverse(client, target, self._threads, self._clock, self._prices)

    def targets(self, declared: Iterable[Endpoint]) -> dict[str, HttpTarget]:
        """The declared HTTP targets, where this stage has them."""
        endpoints = list(declared)
        if not endpoints:
            return {}
        from onceward.providers.http_endpoint import HttpEndpoint, Reach  # noqa: PLC0415

        reach = Reach(origins=self._settings.target_origins, is_local=self._settings.targets_are_local)
        return {
            one.name: HttpEndpoint(self._http(), one, self._credential(one), self._clock, reach) for one in endpoints
        }

    def _credential(self, endpoint: Endpoint) -> Callable[[], Awaitable[str]]:
        """Where a target's credential comes from, at each call anew: a member of the secret, never its whole text."""

        async def read() -> str:
            name = "" if endpoint.auth is None else endpoint.auth.secret
            return member_of(name, await self._secrets.get(self._settings.model_secret_id))

        return read

    def _key(self, api: ModelApi) -> Callable[[], Awaitable[str]]:
        """Where a provider's key comes from, at each call anew."""

        async def read() -> str:
            return key_of(api, await self._secrets.get(self._settings.model_secret_id))

        return read


def key_of(api: ModelApi, secret: str) -> str:
    """The key of one API in the secret: the whole text, or its member of a JSON object; empty where none is needed."""
    if not secret.lstrip().startswith("{"):
        return "" if secret == NO_KEY else secret
    try:
        keys = json.loads(secret)
    except ValueError:
        return secret
    key = keys.get(api, "")
    return key if isinstance(key, str) and key != NO_KEY else ""


def member_of(name: str, secret: str) -> str:
    """One member of the secret; empty if it is not there, or if the secret is a model's key as plain text."""
    try:
        members = json.loads(secret)
    except ValueError:
        return ""
    value = members.get(name, "") if isinstance(members, dict) else ""
    return value if isinstance(value, str) and value != NO_KEY else ""


def warn_of_old_prices(logger: Logger, today: date) -> None:
    """Say once in a cold start that costs are computed from figures that somebody should look at."""
    if is_outdated(today):
        logger.warning("price table outdated", extra={"prices_as_of": AS_OF.isoformat()})
