"""OpenAI's batches, where they differ from what else is answered later: files, a list by metadata, validation."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from onceward.domain.names import DownstreamKey
from onceward.domain.recovery import LookupReply, PollReply
from onceward.errors import CallFailure
from onceward.usecases.ports import ModelReply, Provider, Submitted
from tests.support.model_server import ModelServer
from tests.unit.providers.asking_later import ENOUGH, KEY, REQUEST, ended, provider_of, settled, submit, using
from tests.unit.providers.scripted_server import answering, serving

OTHER = DownstreamKey("JOB-2-x_1")


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    """One server for this file."""
    with ModelServer() as server:
        yield server


@pytest.fixture(autouse=True)
def fresh(model: ModelServer) -> None:
    """Every test finds it without rules, counts, work and files."""
    model.reset()


async def failure_of(provider: Provider, reference: str) -> CallFailure:
    """The failure that work ends with."""
    with pytest.raises(CallFailure) as failure:
        await ended(provider, reference)
    return failure.value


def test_lost_submission_is_found_by_its_metadata_while_it_is_under_way(model: ModelServer) -> None:
    """From then on it is polled like one whose reference was heard; it is bought once."""
    model.behave(hold="gate")
    model.later(lose=1)

    async def use(provider: Provider) -> tuple[Any, ...]:
        before = await provider.lookup(KEY, ENOUGH)
        with pytest.raises(CallFailure) as failure:
            await provider.generate(REQUEST, KEY, ENOUGH)
        found = await provider.lookup(KEY, ENOUGH)
        assert isinstance(found, Submitted)
        early = await provider.poll(found.reference, KEY, ENOUGH)
        model.release("gate")
        reply = await ended(provider, found.reference)
        again = await provider.lookup(KEY, ENOUGH)
        return before, failure.value.error_class, early, reply, again == found, await provider.lookup(OTHER, ENOUGH)

    before, error_class, early, reply, is_found_ended, other = using("batch", model.base_url, use)
    assert (before, other) == (LookupReply.NOT_FOUND, LookupReply.NOT_FOUND)
    assert (error_class, early, is_found_ended) == ("outcome_unknown", PollReply.PENDING, True)
    assert isinstance(reply, ModelReply)
    assert model.counts()["by_key"][KEY]["computations"] == 1


@pytest.mark.parametrize(
    ("code", "error_class", "ours"),
    [
        ("invalid_json_line", "permanent", "provider_refused_request"),
        ("token_limit_exceeded", "rate_limited", "rate_limited"),
        ("billing_hard_limit_reached", "quota_exhausted", "provider_quota_exhausted"),
        ("model_not_found", "permanent", "model_not_found"),
    ],
)
def test_batch_that_fails_its_validation_buys_nothing(
    model: ModelServer, code: str, error_class: str, ours: str
) -> None:
    """Its code says whether another may do better."""
    model.later(invalid=code)

    async def use(provider: Provider) -> CallFailure:
        return await failure_of(provider, await submit(provider))

    failure = using("batch", model.base_url, use)
    assert (failure.error_class, failure.code, failure.was_sent, failure.model) == (error_class, ours, True, None)
    assert model.counts()["computations"] == 0


def test_request_that_is_refused_is_told_by_its_line(model: ModelServer) -> None:
    """A batch of it is taken: the refusal is its answer, and names its status."""

    async def use(provider: Provider) -> CallFailure:
        return await failure_of(provider, await submit(provider))

    failure = using("batch", model.base_url, use, model="no-such-model")
    assert (failure.error_class, failure.code, failure.was_sent) == ("permanent", "model_not_found", True)


@pytest.mark.parametrize(
    ("status", "error_class", "files"),
    [(429, "rate_limited", 0), (400, "permanent", 0), (503, "transient", 0), (500, "outcome_unknown", 1)],
)
def test_file_of_a_refused_batch_is_deleted(model: ModelServer, status: int, error_class: str, files: int) -> None:
    """At once, unless a batch may have begun to read it: then it is found, or expires."""
    model.later(refuse=status)

    async def use(provider: Provider) -> CallFailure:
        with pytest.raises(CallFailure) as failure:
            await provider.generate(REQUEST, KEY, ENOUGH)
        return failure.value

    failure = using("batch", model.base_url, use)
    assert (failure.error_class, failure.was_sent) == (error_class, True)
    assert model.later_counts()["files"] == files


@pytest.mark.parametrize("status", [500, 200])
def test_upload_that_may_have_failed_is_no_maybe(status: int) -> None:
    """Nothing is bought by it, so the call was not sent, whatever became of the file."""

    async def run() -> tuple[CallFailure, int]:
        async with serving(answering(status, {})) as seen, provider_of("batch", seen.url) as provider:
            with pytest.raises(CallFailure) as failure:
                await provider.generate(REQUEST, KEY, ENOUGH)
            return failure.value, len(seen.heads)

    failure, requests = asyncio.run(run())
    assert (failure.error_class, failure.was_sent, requests) == ("transient", False, 1)


def test_file_and_batch_are_told_when_to_expire(model: ModelServer) -> None:
    """The prompt and the answer, seven days after they were made; the key is the line's and the batch's."""

    async def run() -> tuple[bytes, dict[str, Any]]:
        both = {"id": "some-id", "object": "file"}
        async with serving(answering(200, both)) as seen, provider_of("batch", seen.url) as provider:
            with pytest.raises(CallFailure):  # a file is no batch
                await provider.generate(REQUEST, KEY, ENOUGH)
            return seen.bodies[0], json.loads(seen.bodies[1])

    file, batch = asyncio.run(run())
    days = {"anchor": "created_at", "seconds": 7 * 24 * 3600}
    assert b'name="expires_after[anchor]"\r\n\r\ncreated_at' in file
    assert b'name="expires_after[seconds]"\r\n\r\n604800' in file
    assert b'name="purpose"\r\n\r\nbatch' in file
    assert f'"custom_id": "{KEY}", "method": "POST", "url": "/v1/chat/completions"'.encode() in file
    assert batch["output_expires_after"] == days
    assert (batch["metadata"], batch["input_file_id"]) == ({"onceward_key": KEY}, "some-id")


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ({"data": [], "has_more": False}, LookupReply.NOT_FOUND),
        ({"data": [{"id": "b", "metadata": {"onceward_key": KEY}}], "has_more": True}, Submitted("b")),
        ({"data": [{"metadata": {"onceward_key": KEY}}], "has_more": False}, LookupReply.UNREACHABLE),
        ({"data": [{"id": "b", "metadata": None}], "has_more": True}, LookupReply.UNREACHABLE),
        ({"data": "none"}, LookupReply.UNREACHABLE),
        ({}, LookupReply.UNREACHABLE),
    ],
    ids=["nothing", "found", "no name", "endless", "no list", "no page"],
)
def test_only_a_whole_list_says_not_found(page: dict[str, Any], found: LookupReply | Submitted) -> None:
    """A list that does not come to its end proves nothing."""

    async def run() -> object:
        async with serving(answering(200, page)) as seen, provider_of("batch", seen.url) as provider:
            return await provider.lookup(KEY, ENOUGH)

    assert asyncio.run(run()) == found


def test_answers_whose_file_is_gone_are_gone(model: ModelServer) -> None:
    """The batch is still known, what it said is not: a maybe."""

    async def use(provider: Provider) -> tuple[Any, ...]:
        reference = await submit(provider)
        first = await settled(lambda: provider.poll(reference, KEY, ENOUGH), lambda one: one is not PollReply.PENDING)
        other = await provider.poll(reference, OTHER, ENOUGH)
        await provider.forget(reference, ENOUGH)
        return first, other, await provider.poll(reference, KEY, ENOUGH)

    first, other, late = using("batch", model.base_url, use)
    assert isinstance(first, ModelReply)
    assert (other, late) == (PollReply.GONE, PollReply.GONE)
