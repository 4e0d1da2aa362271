"""What is asked, byte for byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from onceward.kinds.analysis import Analysis
from onceward.providers.chat_request import body_of, is_closed, limit_field_of
from onceward.usecases.ports import ModelRequest

REQUEST = ModelRequest(messages=(("system", "Be brief."), ("user", "Größe?")), max_output_tokens=50)


def sent(request: ModelRequest = REQUEST, model: str = "gpt-4o") -> dict[str, Any]:
    """The body as the provider reads it."""
    read: dict[str, Any] = json.loads(body_of(request, model, "max_tokens"))
    return read


def test_a_request_is_what_was_asked_and_nothing_more() -> None:
    """No stream, one choice, no defaults of ours that a provider could stumble over."""
    expected = {
        "model": "gpt-4o",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Größe?"}],
        "max_tokens": 50,
        "temperature": 0.0,
    }

    assert expected == sent()


def test_equal_requests_are_equal_bytes() -> None:
    """A target that dedupes by key may compare the body."""
    assert body_of(REQUEST, "m", "max_tokens") == body_of(REQUEST, "m", "max_tokens")


@pytest.mark.parametrize("model", ["o3-mini", "o4-mini", "gpt-5-mini", "gpt-6-sol"])
def test_a_model_with_a_fixed_temperature_is_not_asked_for_another(model: str) -> None:
    """It would answer 400."""
    assert "temperature" not in sent(model=model)


@pytest.mark.parametrize(
    ("url", "field"),
    [
        ("https://api.openai.com/v1", "max_completion_tokens"),
        ("https://example.openai.azure.com/openai/v1", "max_completion_tokens"),
        ("http://127.0.0.1:8000/v1", "max_tokens"),
        ("https://notopenai.com.example.org/v1", "max_tokens"),
    ],
)
def test_the_token_limit_has_the_name_that_the_server_knows(url: str, field: str) -> None:
    """One of the two, never both."""
    assert field == limit_field_of(url)


class Open(BaseModel):
    """A schema with a default and room for more."""

    name: str = ""


class Closed(BaseModel):
    """A schema without either."""

    model_config = ConfigDict(extra="forbid")

    name: str


class Loose(BaseModel):
    """Closed outside, open inside."""

    model_config = ConfigDict(extra="forbid")

    parts: list[Open]
    table: dict[str, int]


@pytest.mark.parametrize(("model", "strict"), [(Closed, True), (Analysis, True), (Open, False), (Loose, False)])
def test_strict_is_asked_for_where_the_schema_allows_it(model: type[BaseModel], strict: bool) -> None:
    """OpenAI refuses strict for a schema that is not closed; other servers ignore it."""
    schema = model.model_json_schema()
    request = ModelRequest(messages=(("user", "x"),), max_output_tokens=5, json_schema=json.dumps(schema))
    wanted = {"name": "answer", "schema": schema, "strict": strict}

    assert {"type": "json_schema", "json_schema": wanted} == sent(request)["response_format"]
    assert strict == is_closed(schema)
