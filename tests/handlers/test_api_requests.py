"""What a create and its kin ask of AWS, request by request, through Powertools and the real adapters."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from onceward.domain.tally import Limits
from onceward.local.cloud import LocalCloud
from tests.support.lossy import LossyPath, lossy
from tests.support.wired_api import WiredApi, wired_api

__all__ = ["lossy"]

CREATE = ["GetItem", "GetItem", "TransactWriteItems", "SendMessage"]  # row, account, the write, the message
OTHER = '{"kind": "text.generate", "input": {"prompt": "other"}}'
LARGE = '{"kind": "text.generate", "input": {"prompt": "' + "x" * 5_000 + '"}}'
SENDS = 3  # how often the clients send at most


@pytest.fixture
def wired(ministack: LocalCloud, lossy: LossyPath) -> Iterator[WiredApi]:
    """The API behind a path that loses answers on demand; the tables are looked at directly."""
    with wired_api(ministack.access, lossy.url) as made:
        yield made


def sorts(wired: WiredApi) -> list[str]:
    """What is in the jobs table, by sort keys."""
    return sorted(item["sk"]["S"] for item in wired.items(wired.tables.jobs))


def test_request_log_of_a_create_a_replay_and_a_mismatch_is_the_designs(wired: WiredApi) -> None:
    """A create: row, account, one write, one message. A replay and a mismatch: one read, and nothing else."""
    created = wired.create("key-1")
    assert (created.status, wired.log()) == (202, CREATE)
    replayed = wired.create("key-1")
    assert (replayed.json, wired.log()) == (created.json, ["GetItem"])
    refused = wired.create("key-1", OTHER)
    assert (refused.status, wired.log()) == (409, ["GetItem"])


def test_replay_of_a_job_that_nobody_fetched_sends_its_message(wired: WiredApi) -> None:
    """One read and one message, once somebody should have claimed the job; a mismatch never sends."""
    wired.create("key-1")
    wired.clock.move(timedelta(seconds=10))
    wired.log()

    wired.create("key-1", OTHER)
    assert wired.log() == ["GetItem"]
    wired.create("key-1")
    assert wired.log() == ["GetItem", "SendMessage"]


def test_large_input_is_stored_before_the_write_that_names_it(wired: WiredApi) -> None:
    """One request more, in this order."""
    assert wired.create("key-1", LARGE).status == 202
    assert wired.log() == ["GetItem", "GetItem", "PutObject", "TransactWriteItems", "SendMessage"]


@pytest.mark.failure_mode("F1")
def test_own_retry_is_the_same_transaction_sent_again(wired: WiredApi, lossy: LossyPath) -> None:
    """The write was applied and its answer lost: the SDK's repeat is one transaction with it, and a create it stays."""
    lossy.lose_answers("TransactWriteItems")
    created = wired.create("key-1")

    assert wired.log() == ["GetItem", "GetItem", "TransactWriteItems", "TransactWriteItems", "SendMessage"]
    assert (created.status, "idempotent-replayed" in created.headers) == (202, False)
    assert sorts(wired) == ["input", "job"]


@pytest.mark.failure_mode("F3")
def test_failing_write_of_the_layer_leaves_no_row_and_says_so(wired: WiredApi, lossy: LossyPath) -> None:
    """Powertools is in the path: no 202 without a row, no row without a 202, and the key stays free."""
    lossy.lose_requests("TransactWriteItems", times=SENDS)
    failed = wired.create("key-1")

    assert (failed.status, failed.json["code"]) == (503, "store_unavailable")
    assert (sorts(wired), wired.messages()) == ([], [])
    assert wired.create("key-1").status == 202


@pytest.mark.failure_mode("F2")
def test_write_that_was_never_answered_is_found_by_the_retry(wired: WiredApi, lossy: LossyPath) -> None:
    """503 to the client although the row is there: its retry is a replay of that one job."""
    lossy.lose_answers("TransactWriteItems", times=SENDS)
    unknown = wired.create("key-1")
    again = wired.create("key-1")

    assert (unknown.status, again.status) == (503, 202)
    assert again.headers["idempotent-replayed"] == "true"
    assert sorts(wired) == ["input", "job"]


@pytest.mark.failure_mode("F43")
def test_lost_message_is_no_failure_of_a_create(wired: WiredApi, lossy: LossyPath) -> None:
    """Three sends in vain: 202 all the same, since the job is durable; the sweeper and the replay have it."""
    lossy.lose_requests("SendMessage", times=SENDS, service="sqs")
    created = wired.create("key-1")

    assert (created.status, created.json["status"]) == (202, "queued")
    assert wired.log() == [*CREATE, "SendMessage", "SendMessage"]
    assert wired.messages() == []


def test_counting_write_whose_answer_was_lost_counts_twice(ministack: LocalCloud, lossy: LossyPath) -> None:
    """The one write of a create that may: the limit is reached early, never passed, and the job is one all the same."""
    limits = Limits.of(creates_per_minute=2, documents_per_day=0)
    with wired_api(ministack.access, lossy.url, limits=limits) as limited:
        lossy.lose_answers("UpdateItem")
        assert limited.create("key-1").status == 202
        assert limited.log() == ["GetItem", "GetItem", "UpdateItem", "UpdateItem", "TransactWriteItems", "SendMessage"]
        assert sorts(limited) == ["input", "job"]

        assert (limited.create("key-1").status, limited.create("key-2").status) == (202, 429)
        assert sorts(limited) == ["input", "job"]


def test_configured_limit_costs_one_request_and_none_costs_nothing(ministack: LocalCloud, lossy: LossyPath) -> None:
    """The counting write stands last before the job's own: whoever is refused has used up nothing."""
    limits = Limits.of(creates_per_minute=100, documents_per_day=0)
    with wired_api(ministack.access, lossy.url, limits=limits) as limited:
        assert limited.create("key-1").status == 202
        assert limited.log() == ["GetItem", "GetItem", "UpdateItem", "TransactWriteItems", "SendMessage"]
        assert limited.create("key-1").status == 202
        assert limited.log() == ["GetItem"]
