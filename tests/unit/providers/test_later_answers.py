"""Providers that answer later, against the local model server: submitted, polled, failed, forgotten, stopped, found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from onceward.domain.names import DownstreamKey
from onceward.domain.recovery import LookupReply, PollReply
from onceward.domain.states import ProviderCancel
from onceward.errors import CallFailure
from onceward.usecases.ports import ModelReply, ModelRequest, Provider
from tests.support.model_server import ModelServer
from tests.unit.providers.asking_later import (
    APIS,
    BATCHES,
    ENOUGH,
    KEY,
    MODEL,
    REQUEST,
    Api,
    ended,
    settled,
    submit,
    using,
)

REFUSAL = {"error": {"code": "invalid_prompt", "type": "invalid_request_error"}}


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    """One server for this file."""
    with ModelServer() as server:
        yield server


@pytest.fixture(autouse=True)
def fresh(model: ModelServer) -> None:
    """Every test finds it without rules, counts and work."""
    model.reset()


@pytest.mark.parametrize("api", APIS)
def test_work_is_pending_then_answered_and_computed_once(model: ModelServer, api: Api) -> None:
    """However often it is polled; the answer has text, usage and a price."""
    model.behave(hold="gate")

    async def use(provider: Provider) -> tuple[Any, ...]:
        reference = await submit(provider)
        early = [await provider.poll(reference, KEY, ENOUGH) for _ in range(3)]
        model.release("gate")
        reply = await ended(provider, reference)
        again = await provider.poll(reference, KEY, ENOUGH)
        assert isinstance(reply, ModelReply)
        return early, reply, again, provider.price(reply.model, reply.usage)

    early, reply, again, price = using(api, model.base_url, use)
    assert early == [PollReply.PENDING] * 3
    assert (reply.finish, reply.model, reply) == ("stop", MODEL, again)
    assert price > 0
    assert model.counts()["by_key"][KEY]["computations"] == 1


@pytest.mark.parametrize("api", BATCHES)
def test_batch_costs_half(model: ModelServer, api: Api) -> None:
    """By the provider's own tariff for batches, rounded up; the most that it can cost is half as well."""

    async def use(provider: Provider) -> list[int | None]:
        reply = await ended(provider, await submit(provider))
        assert isinstance(reply, ModelReply)
        return [provider.price(reply.model, reply.usage), provider.most(REQUEST)]

    now, later = using("openai", model.base_url, use), using(api, model.base_url, use)
    assert None not in now
    assert later == [-(-one // 2) for one in now if one is not None]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("rule", "error_class", "code"),
    [
        ({"status": 500}, "transient", "provider_error"),
        (
            {"status": 400, "body": REFUSAL},
            "permanent",
            "provider_refused_request",
        ),
        ({"form": "refusal"}, "policy_rejected", "model_refused"),
        ({"form": "truncated"}, "invalid_output", "truncated_output"),
        ({"form": "empty_content"}, "invalid_output", "empty_answer"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_work_that_ended_badly_is_no_maybe(
    model: ModelServer, api: Api, rule: dict[str, Any], error_class: str, code: str
) -> None:
    """The provider says that it is over: the retry decision is made from what it says."""
    model.behave(**rule)

    async def use(provider: Provider) -> CallFailure:
        reference = await submit(provider)
        with pytest.raises(CallFailure) as failure:
            await ended(provider, reference)
        return failure.value

    failure = using(api, model.base_url, use)
    assert (failure.error_class, failure.was_sent) == (error_class, True)
    assert failure.code == code


@pytest.mark.parametrize("api", APIS)
def test_forgotten_reference_is_gone(model: ModelServer, api: Api) -> None:
    """By the API's own word; it says nothing of whether the work was done."""

    async def use(provider: Provider) -> ModelReply | PollReply:
        reference = await submit(provider)
        model.later(forget=True)
        return await provider.poll(reference, KEY, ENOUGH)

    assert using(api, model.base_url, use) is PollReply.GONE


@pytest.mark.parametrize("api", BATCHES)
def test_work_whose_time_ran_out_was_not_done(model: ModelServer, api: Api) -> None:
    """It may be asked again, and is not charged."""
    model.behave(hold="gate")

    async def use(provider: Provider) -> CallFailure:
        reference = await submit(provider)
        model.later(expire=True)
        with pytest.raises(CallFailure) as failure:
            await ended(provider, reference)
        return failure.value

    failure = using(api, model.base_url, use)
    assert (failure.code, failure.error_class, failure.model) == ("batch_expired", "transient", None)


@pytest.mark.parametrize("api", APIS)
def test_what_is_kept_of_answered_work_is_deleted_on_request(model: ModelServer, api: Api) -> None:
    """Prompt and answer: afterwards the provider knows no more of it. Work under way is left alone."""
    model.behave(hold="gate")

    async def use(provider: Provider) -> tuple[Any, ...]:
        reference = await submit(provider)
        if api != "batch":  # whose files are read when it begins
            await provider.forget(reference, ENOUGH)
        early = await provider.poll(reference, KEY, ENOUGH)
        model.release("gate")
        reply = await ended(provider, reference)
        await provider.forget(reference, ENOUGH)
        await provider.forget(reference, ENOUGH)
        return early, reply, await provider.poll(reference, KEY, ENOUGH)

    early, reply, late = using(api, model.base_url, use)
    assert (early, late) == (PollReply.PENDING, PollReply.GONE)
    assert isinstance(reply, ModelReply)
    assert model.later_counts()["files"] == 0


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("url", ["http://127.0.0.1:1/v1", "wrong path"])
def test_unreachable_or_wrong_address_says_nothing(model: ModelServer, api: Api, url: str) -> None:
    """Neither a refused connection nor a page of somebody else is proof of anything."""
    where = url if url.startswith("http") else f"{model.url}/health?"

    async def use(provider: Provider) -> ModelReply | PollReply:
        return await provider.poll("some-work", KEY, ENOUGH)

    assert using(api, where, use) is PollReply.UNREACHABLE


@pytest.mark.parametrize("api", APIS)
def test_stop_reaches_the_work(model: ModelServer, api: Api) -> None:
    """Confirmed by the work's own state; polled afterwards it has failed for good, and is no maybe."""
    model.behave(hold="gate")

    async def use(provider: Provider) -> tuple[ProviderCancel, CallFailure]:
        reference = await submit(provider)
        said = await provider.stop(reference, ENOUGH)
        with pytest.raises(CallFailure) as failure:
            await ended(provider, reference)
        return said, failure.value

    said, failure = using(api, model.base_url, use)
    # A batch of OpenAI's says that it is stopping; that it has stopped is known later.
    assert said is (ProviderCancel.REQUESTED if api == "batch" else ProviderCancel.CONFIRMED)
    assert (failure.code, failure.error_class) == ("provider_cancelled", "permanent")
    assert model.later_counts()["cancelled"] == 1


@pytest.mark.parametrize("api", APIS)
def test_stop_that_nobody_hears_is_only_a_wish(model: ModelServer, api: Api) -> None:
    """Nothing is raised: the job ends all the same, and the books keep the bound."""

    async def use(provider: Provider) -> ProviderCancel:
        return await provider.stop("some-work", ENOUGH)

    assert using(api, "http://127.0.0.1:1/v1", use) is ProviderCancel.REQUESTED
    assert using(api, model.base_url, use) is ProviderCancel.REQUESTED


def test_submission_whose_answer_was_lost_is_found_by_its_custom_id(model: ModelServer) -> None:
    """A batch carries our key: while it is under way nobody can tell, then it is found, and bought once."""
    model.behave(hold="gate")
    model.later(lose=1)

    async def use(provider: Provider) -> tuple[Any, ...]:
        with pytest.raises(CallFailure) as failure:
            await provider.generate(REQUEST, KEY, ENOUGH)
        early = await provider.lookup(KEY, ENOUGH)
        model.release("gate")
        found = await settled(lambda: provider.lookup(KEY, ENOUGH), lambda one: isinstance(one, ModelReply))
        return failure.value.error_class, early, found, await provider.lookup(DownstreamKey("JOB-2-x_1"), ENOUGH)

    error_class, early, found, other = using("anthropic", model.base_url, use)
    assert (error_class, early, other) == ("outcome_unknown", LookupReply.UNREACHABLE, LookupReply.NOT_FOUND)
    assert isinstance(found, ModelReply)
    assert model.counts()["by_key"][KEY]["computations"] == 1


def test_responses_answer_no_lookups(model: ModelServer) -> None:
    """There is no list of them: nothing can be learnt by a key, and none is declared."""

    async def use(provider: Provider) -> tuple[Any, ...]:
        return await provider.lookup(KEY, ENOUGH), provider.capability.lookup_lag

    assert using("openai", model.base_url, use) == (LookupReply.UNREACHABLE, None)


@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_refused_submission_is_an_answer(model: ModelServer, api: Api) -> None:
    """Nothing was taken, so nothing is waited for."""

    async def use(provider: Provider) -> CallFailure:
        with pytest.raises(CallFailure) as failure:
            await provider.generate(ModelRequest(messages=(), max_output_tokens=5), KEY, ENOUGH)
        return failure.value

    failure = using(api, model.base_url, use)
    assert (failure.error_class, failure.was_sent) == ("permanent", True)
    assert model.later_counts()["works"] == 0
