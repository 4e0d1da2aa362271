"""Which models a stage asks: one for everybody, others for some kinds, and prices of one's own.

On the command line: ``-c model_by_kind='{"document.analyze": {"api": "anthropic", "name": "claude-sonnet-5"}}'``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

type ModelApi = Literal["openai", "anthropic", "bedrock"]
type Promise = Literal["none", "dedupes", "lookup", "stored"]
type Answers = Literal["now", "later", "batch"]

URLS: Mapping[ModelApi, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
    "bedrock": "",  # the region's own endpoint
}
NAMES: Mapping[ModelApi, str] = {
    "openai": "gpt-5-mini",
    "anthropic": "claude-haiku-4-5",
    "bedrock": "global.anthropic.claude-haiku-4-5-20251001-v1:0",
}
ANSWERED_BY: Mapping[Answers, frozenset[ModelApi]] = {
    "now": frozenset(URLS),
    "later": frozenset({"openai", "anthropic"}),  # responses in background mode, message batches
    "batch": frozenset({"openai"}),  # half the price; what Anthropic answers later is a batch already
}
FINDS_BY_KEY = frozenset({"openai"})  # only behind its dialect is there a lookup: a gateway's, or the stand-in's


def _parsed(value: object) -> object:
    """Read the JSON of a command line."""
    return json.loads(value) if isinstance(value, str) else value


class ChosenModel(BaseModel):
    """One model: what its API is, where it is, its name, and what its documentation promises about repeats."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    api: ModelApi
    url: str = ""
    name: str = ""
    capability: Promise = "none"
    answers: Answers = "now"

    @model_validator(mode="before")
    @classmethod
    def _filled(cls, given: Any) -> Any:
        """Lay what is given over the API's own address and a small model of it."""
        if not isinstance(given, dict) or given.get("api") not in URLS:
            return given
        api = given["api"]
        return {"url": URLS[api], "name": NAMES[api], **given}

    @model_validator(mode="after")
    def _can_promise(self) -> ChosenModel:
        """Refuse a promise that no server of this API keeps."""
        check_promise(self.api, self.capability, self.answers)
        return self


class OwnPrice(BaseModel):
    """Micro-USD for a million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Annotated[int, Field(ge=0)]
    cached: Annotated[int, Field(ge=0)]
    output: Annotated[int, Field(ge=0)]
    cache_write: Annotated[int, Field(ge=0)] | None = None


ByKind = Annotated[dict[str, ChosenModel], BeforeValidator(_parsed)]
Prices = Annotated[dict[str, OwnPrice], BeforeValidator(_parsed)]
Origins = Annotated[dict[str, str], BeforeValidator(_parsed)]


def model_defaults(given: Mapping[str, object]) -> dict[str, object]:
    """Say which address and which model go with the API that is asked for."""
    api = given.get("model_api")
    return {"model_url": URLS[api], "model_name": NAMES[api]} if api in URLS else {}  # type: ignore[index]


def check_promise(api: ModelApi, capability: Promise, answers: Answers) -> None:
    """Refuse a promise that no server of this API keeps; raises ``ValueError``."""
    if capability in ("lookup", "stored") and api not in FINDS_BY_KEY:
        raise ValueError(f"nothing can be looked up by key at {api}")
    if api not in ANSWERED_BY[answers]:
        raise ValueError(f"{api} does not answer so: {answers}")
    if answers != "now" and capability != "none":
        raise ValueError("what a model that answers later promises is its API's to say: leave capability out")
    if capability == "dedupes" and api == "bedrock":
        raise ValueError("Bedrock's Converse takes no key to dedupe by")


def as_json(values: Mapping[str, BaseModel]) -> str:
    """Spell models or prices as a variable; equal ones give equal text."""
    return json.dumps({name: value.model_dump(exclude_none=True) for name, value in sorted(values.items())})


def bedrock_models(api: ModelApi, name: str, by_kind: Mapping[str, ChosenModel]) -> Iterator[str]:
    """Name each model of Bedrock that the stage asks, once."""
    names = [name] if api == "bedrock" else []
    names += [model.name for model in by_kind.values() if model.api == "bedrock"]
    yield from dict.fromkeys(names)
