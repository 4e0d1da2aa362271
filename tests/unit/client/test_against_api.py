"""The client against the real API: what a user does with it, over a socket, blocking and awaiting alike."""

import asyncio
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from pydantic import BaseModel

from onceward.client import (
    ApiError,
    AsyncOnceward,
    ConnectionFailed,
    JobCancelled,
    JobFailed,
    Onceward,
    OutcomeUnknown,
    UploadRefused,
    WaitTimeout,
    result_of,
)
from onceward.errors import TooLarge
from tests.unit.client.live_api import TOKEN, LiveApi

PDF = b"%PDF-1.7\n...\r\n--not a boundary\r\n"


class Prompt(BaseModel):
    """An input as a program has it."""

    prompt: str


def a_client(live: LiveApi) -> Onceward:
    """A client of the running API."""
    return Onceward(live.url, TOKEN)


def test_job_is_submitted_waited_for_and_answered(live: LiveApi) -> None:
    """The whole way of a job; its key is told."""
    with a_client(live) as client:
        job = client.jobs.submit("text.generate", {"prompt": "hi"})
        seen = client.jobs.wait(job.job_id, timeout=10)

    assert (job.status, job.is_replay, len(job.idempotency_key)) == ("queued", False, 24)
    assert (result_of(seen), seen.charge_micro_usd) == ({"text": "HI"}, 5000)


def test_model_is_an_input_too(live: LiveApi) -> None:
    """A pydantic model is sent as what it stands for."""
    with a_client(live) as client:
        assert client.submit_and_wait("text.generate", Prompt(prompt="hi"), timeout=10) == {"text": "HI"}


def test_own_account_is_told_blocking_and_awaiting(live: LiveApi) -> None:
    """Without an account it says that nothing is limited."""

    async def ask() -> bool:
        async with AsyncOnceward(live.url, TOKEN) as client:
            return (await client.account()).is_limited

    with a_client(live) as client:
        assert (client.account().is_limited, client.account().available_micro_usd) == (False, None)
    assert asyncio.run(ask()) is False


@pytest.mark.parametrize("key", ["order-1", 'with "quotes", a comma and \\', "x" * 255])
def test_same_key_is_the_same_job(live: LiveApi, key: str) -> None:
    """A second submission with the key makes nothing, however the key is spelt."""
    with a_client(live) as client:
        first = client.jobs.submit("text.generate", {"prompt": "hi"}, key)
        second = client.jobs.submit("text.generate", {"prompt": "hi"}, key)

    assert second.job_id == first.job_id
    assert [first.is_replay, second.is_replay] == [False, True]
    assert len(live.world.store.rows) == 1


def test_lost_answer_is_asked_for_again_and_makes_no_second_job(live: LiveApi) -> None:
    """The create is done and its answer lost: the retry, with the key made before the first send, finds that job."""
    live.answers_to_lose = 1
    with a_client(live) as client:
        job = client.jobs.submit("text.generate", {"prompt": "hi"})

    assert job.is_replay
    assert live.seen == [("POST", "/api/ai/jobs")] * 2
    assert len(live.world.store.rows) == 1


def test_key_of_another_request_is_refused_once(live: LiveApi) -> None:
    """A conflict is told with the problem, and not tried again."""
    with a_client(live) as client:
        client.jobs.submit("text.generate", {"prompt": "hi"}, "order-1")
        with pytest.raises(ApiError) as refused:
            client.jobs.submit("text.generate", {"prompt": "ho"}, "order-1")

    assert (refused.value.status, refused.value.code) == (409, "idempotency_key_reused")
    assert (refused.value.request_id, refused.value.idempotency_key) == ("request-1", "order-1")
    assert len(live.seen) == 2


def test_bad_input_names_its_place(live: LiveApi) -> None:
    """A refusal says which field, in the exception's text and in its problem."""
    with a_client(live) as client, pytest.raises(ApiError, match=r"422 invalid_input: .*; /input/prompt: ") as refused:
        client.jobs.submit("text.generate", {})

    assert refused.value.problem is not None
    assert [fault.pointer for fault in refused.value.problem.errors] == ["/input/prompt"]


def test_document_goes_up_and_is_worked_on(live: LiveApi, tmp_path: Path) -> None:
    """A file reaches the bucket byte for byte, with its type, and no token goes there."""
    path = tmp_path / "contract.pdf"
    path.write_bytes(PDF)
    with a_client(live) as client:
        ids = [client.documents.upload(path), client.documents.upload(str(path)), client.documents.upload(PDF)]
        results = [client.submit_and_wait("document.analyze", {"document_id": one}, timeout=10) for one in ids]

    assert results == [{"text": f"{len(PDF)} bytes of application/pdf"}] * 3


def test_refused_document_is_told_by_the_bucket_s_code(live: LiveApi) -> None:
    """What the bucket does not take is no document; its words are not repeated."""
    live.is_form_broken = True
    with a_client(live) as client, pytest.raises(UploadRefused) as refused:
        client.documents.upload(PDF)

    assert str(refused.value) == "400 EntityTooLarge: the bucket did not take the document"


def test_too_large_a_document_is_not_sent(live: LiveApi, tmp_path: Path) -> None:
    """A file beyond the limit is refused before it is read."""
    path = tmp_path / "huge.pdf"
    with path.open("wb") as file:
        file.truncate(10 * 1024 * 1024 + 1)
    with a_client(live) as client, pytest.raises(TooLarge):
        client.documents.upload(path)

    assert live.seen == []


def test_ends_without_a_result_are_exceptions(live: LiveApi) -> None:
    """Failed, cancelled and unknown are three different things to a caller, and the job is at hand in each."""
    with a_client(live) as client:
        with pytest.raises(JobFailed, match="failed: too_vague") as failed:
            client.submit_and_wait("text.generate", {"prompt": "fail"}, "order-1", timeout=10)
        live.is_working = False
        job = client.jobs.submit("text.generate", {"prompt": "hi"})
        assert client.jobs.cancel(job.job_id).status == "cancelled"
        with pytest.raises(JobCancelled):
            result_of(client.jobs.wait(job.job_id))
        parked = client.jobs.submit("text.generate", {"prompt": "hi"})
        live.put_into_review(parked.job_id)
        with pytest.raises(OutcomeUnknown, match="a person decides"):
            result_of(client.jobs.wait(parked.job_id))

    assert failed.value.job.error is not None
    assert failed.value.idempotency_key == "order-1"


def test_end_of_the_wait_is_not_the_job_s(live: LiveApi) -> None:
    """A wait that is over says so, and the job goes on and can be waited for again."""
    live.is_working = False
    with a_client(live) as client:
        with pytest.raises(WaitTimeout, match="is queued and goes on") as over:
            client.submit_and_wait("text.generate", {"prompt": "hi"}, timeout=0)
        live.work()

        assert result_of(client.jobs.wait(over.value.job.job_id, timeout=0)) == {"text": "HI"}


def test_jobs_are_listed_page_by_page(live: LiveApi) -> None:
    """Newest first, filtered by the server, and on from a cursor until there is none."""
    with a_client(live) as client:
        made = []
        for number in range(3):
            live.world.clock.move(timedelta(seconds=1))
            made.append(client.jobs.submit("text.generate", {"prompt": f"{number}"}).job_id)
        first = client.jobs.list(limit=2, status="succeeded", kind="text.generate")
        rest = client.jobs.list(limit=2, status="succeeded", kind="text.generate", cursor=first.next_cursor)

        assert [job.job_id for job in (*first.jobs, *rest.jobs)] == made[::-1]
        assert (rest.next_cursor, client.jobs.list(status="failed").jobs) == (None, ())


def test_absent_job_is_not_found(live: LiveApi) -> None:
    """Whatever an id holds, it stays one segment of the path."""
    with a_client(live) as client:
        for job_id in ("ABC", "../health", "a/cancel", "a?wait=1"):
            with pytest.raises(ApiError) as absent:
                client.jobs.get(job_id)

            assert (absent.value.status, absent.value.code) == (404, "job_not_found")


def test_gateway_s_own_answer_is_understood(live: LiveApi) -> None:
    """A token that the gateway refuses is unauthorized, in the same words as from our own code; it is not told."""
    with Onceward(live.url, "another-token") as client, pytest.raises(ApiError) as refused:
        client.jobs.get("ABC")

    assert str(refused.value) == "401 unauthorized: Unauthorized"


def test_token_function_is_asked_for_each_request(live: LiveApi) -> None:
    """A token that has expired is replaced without a new client."""
    tokens = iter(["expired", TOKEN])
    with Onceward(live.url, lambda: next(tokens)) as client:
        with pytest.raises(ApiError):
            client.jobs.submit("text.generate", {"prompt": "hi"}, "order-1")

        assert client.jobs.submit("text.generate", {"prompt": "hi"}, "order-1").status == "queued"


def test_given_http_client_is_used_and_left_open(live: LiveApi) -> None:
    """Whoever brings the connection pool closes it."""
    asked: list[str] = []
    hooks = {"request": [lambda request: asked.append(request.headers["user-agent"])]}
    with httpx.Client(event_hooks=hooks) as http:
        Onceward(live.url, TOKEN, http_client=http).close()
        with Onceward(live.url, TOKEN, http_client=http) as client:
            client.jobs.submit("text.generate", {"prompt": "hi"})

        assert not http.is_closed
    assert asked == ["onceward-python/0.1.0"]


def test_nobody_there_is_told_with_the_key() -> None:
    """Without an answer nobody knows whether the job is stored; the key finds out."""
    with Onceward("http://127.0.0.1:9", TOKEN, max_retries=0) as client, pytest.raises(ConnectionFailed) as failed:
        client.jobs.submit("text.generate", {"prompt": "hi"}, "order-1")

    assert str(failed.value) == "no answer from http://127.0.0.1:9 (ConnectError, 1 tries)"
    assert failed.value.idempotency_key == "order-1"


def test_asyncio_does_the_same(live: LiveApi, tmp_path: Path) -> None:
    """Every call of the asynchronous client, once."""
    path = tmp_path / "contract.pdf"
    path.write_bytes(PDF)

    async def use() -> tuple[object, ...]:
        async with AsyncOnceward(live.url, TOKEN) as client:
            document_id = await client.documents.upload(path)
            said = await client.submit_and_wait("document.analyze", {"document_id": document_id}, timeout=10)
            live.is_working = False
            job = await client.jobs.submit("text.generate", {"prompt": "hi"})
            with pytest.raises(WaitTimeout):
                await client.jobs.wait(job.job_id, timeout=0)
            cancelled = await client.jobs.cancel(job.job_id)
            assert [one.job_id for one in (await client.jobs.list(kind="text.generate")).jobs] == [job.job_id]
            return said, cancelled.status, (await client.jobs.get(job.job_id)).status

    assert asyncio.run(use()) == ({"text": f"{len(PDF)} bytes of application/pdf"}, "cancelled", "cancelled")


def test_many_share_one_asynchronous_client(live: LiveApi) -> None:
    """Calls of one client go on side by side."""

    async def use() -> list[object]:
        async with AsyncOnceward(live.url, TOKEN) as client:
            calls = (client.submit_and_wait("text.generate", {"prompt": f"p{n}"}, timeout=10) for n in range(5))
            return list(await asyncio.gather(*calls))

    assert asyncio.run(use()) == [{"text": f"P{n}"} for n in range(5)]
