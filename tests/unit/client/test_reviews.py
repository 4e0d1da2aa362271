"""Reviews and histories by the SDK, blocking and awaiting alike, against the real API."""

from __future__ import annotations

import asyncio

import pytest

from onceward.client import ApiError, AsyncOnceward, Onceward
from tests.unit.client.live_api import TOKEN, LiveApi


def reviewed(live: LiveApi, client: Onceward) -> str:
    """A job in review."""
    live.is_working = False
    job_id = client.jobs.submit("text.generate", {"prompt": "hi"}).job_id
    live.put_into_review(job_id)
    return job_id


def test_a_review_is_listed_read_and_accepted_once(live: LiveApi) -> None:
    """The same verdict again is answered the same; another one is refused."""
    with Onceward(live.url, TOKEN) as client:
        job_id = reviewed(live, client)
        listed = client.reviews.list(limit=5)
        seen = client.reviews.get(job_id)
        done = client.reviews.accept(job_id, seen.epoch, {"text": "FOUND"}, why="ticket 1")
        again = client.reviews.accept(job_id, seen.epoch, {"text": "FOUND"}, why="ticket 1")
        with pytest.raises(ApiError) as refused:
            client.reviews.fail(job_id, seen.epoch, why="no")

        assert ([one.job_id for one in listed.reviews], seen.is_open) == ([job_id], True)
        assert (done.is_replay, again.is_replay, again.record) == (False, True, done.record)
        assert client.jobs.get(job_id).result == {"text": "FOUND"}
        assert (refused.value.status, refused.value.code) == (409, "review_resolved")


def test_a_lost_answer_to_a_verdict_is_asked_for_again(live: LiveApi) -> None:
    """The client's own retry finds the record; nothing is decided twice."""
    with Onceward(live.url, TOKEN) as client:
        job_id = reviewed(live, client)
        live.answers_to_lose = 1
        done = client.reviews.fail(job_id, 1, why="asked them")

        assert (done.is_replay, done.review.status) == (True, "failed")


def test_a_retry_has_to_be_meant(live: LiveApi) -> None:
    """Without the confirmation nothing is written."""
    with Onceward(live.url, TOKEN) as client:
        job_id = reviewed(live, client)
        with pytest.raises(ApiError) as refused:
            client.reviews.retry(job_id, 1, why="try", may_pay_twice=False)
        done = client.reviews.retry(job_id, 1, why="try", may_pay_twice=True)

        assert refused.value.code == "payment_unconfirmed"
        assert (done.review.status, done.review.epoch) == ("queued", 2)


def test_awaiting_does_the_same(live: LiveApi) -> None:
    """Every method of the other colour, and the history."""
    with Onceward(live.url, TOKEN) as client:
        job_id = reviewed(live, client)

    async def main() -> tuple[int, str, str, list[str]]:
        async with AsyncOnceward(live.url, TOKEN) as client:
            listed = await client.reviews.list()
            seen = await client.reviews.get(job_id)
            first = await client.reviews.retry(job_id, seen.epoch, why="w", may_pay_twice=True)
            live.put_into_review(job_id)
            await client.reviews.accept(job_id, 2, {"text": "FOUND"}, why="w")
            with pytest.raises(ApiError):
                await client.reviews.fail(job_id, 2, why="w")
            history = await client.jobs.history(job_id)
            records = (await client.reviews.get(job_id)).records
            return len(listed.reviews), first.review.status, history.status, [one.verdict for one in records]

    assert asyncio.run(main()) == (1, "queued", "succeeded", ["retry", "accept"])
