"""The tracker keeps exactly the promise of each of its paths, and its log tells every side effect."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.support.tracker import Tracker

TASK = {"source_ticket": "481", "title": "Check"}


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tracker]:
    """One process for all."""
    with Tracker(tmp_path_factory.mktemp("tracker")) as tracker:
        yield tracker


@pytest.fixture
def tracker(process: Tracker) -> Tracker:
    """An empty tracker."""
    process.reset()
    return process


def test_the_header_makes_a_second_request_the_first_one(tracker: Tracker) -> None:
    """The same task, one effect; another body under the key is refused."""
    first, second = (tracker.create("by-header", TASK, "k-1") for _ in range(2))
    other = tracker.create("by-header", {**TASK, "title": "Else"}, "k-1")

    assert (first.status_code, first.json()) == (second.status_code, second.json()) == (201, first.json())
    assert (other.status_code, len(tracker.effects())) == (422, 1)


def test_parallel_requests_under_one_key_make_one_task(tracker: Tracker) -> None:
    """The promise holds in a race too."""
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: tracker.create("by-header", TASK, "k-2").json()["id"], range(8)))

    assert (len(set(answers)), len(tracker.effects())) == (1, 1)


def test_a_natural_key_conflicts_and_can_be_read_back(tracker: Tracker) -> None:
    """One task for a ticket."""
    made = tracker.create("by-natural-key", TASK).json()

    assert tracker.create("by-natural-key", TASK).status_code == 409
    assert tracker.find("by-natural-key", "481").json() == made
    assert len(tracker.effects("481")) == 1


def test_a_lookup_finds_by_the_callers_id_and_says_when_it_does_not(tracker: Tracker) -> None:
    """The path promises nothing about repeats."""
    assert tracker.find("by-lookup", "e-1").json() == {"code": "task_not_found"}
    made = [tracker.create("by-lookup", {**TASK, "external_id": "e-1"}).json() for _ in range(2)]

    assert tracker.find("by-lookup", "e-1").json() == made[0]
    assert len(tracker.effects()) == 2


def test_it_hangs_up_before_or_after_the_work_as_asked(tracker: Tracker) -> None:
    """Its log tells which."""
    tracker.behave(stage="before", drop=True)
    tracker.behave(stage="after", drop=True)
    effects = []
    for _ in range(2):
        with pytest.raises(httpx.TransportError):
            tracker.create("plain", TASK)
        effects.append(len(tracker.effects()))

    assert effects == [0, 1]
    assert tracker.create("plain", TASK).status_code == 201


def test_it_refuses_with_a_time_to_come_back(tracker: Tracker) -> None:
    """429 with Retry-After, for the requests about one ticket."""
    tracker.behave(text="481", status=429, retry_after="2")
    refused = tracker.create("plain", TASK)

    assert (refused.status_code, refused.headers["retry-after"], tracker.effects()) == (429, "2", [])


def test_an_unknown_wish_is_refused(tracker: Tracker) -> None:
    """No test asks in vain."""
    with pytest.raises(httpx.HTTPStatusError):
        tracker.behave(sleep=3)
