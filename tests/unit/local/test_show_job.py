"""A finished job is shown in lines that a person reads: facts, places, attempts and money."""

from datetime import UTC, datetime, timedelta

import pytest

from onceward.local.show_job import cost, item_text, job_lines, money, sum_line
from onceward.wire.responses import AttemptView, CostView, JobView

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
EXACT = CostView(exact_micro_usd=1234, low_micro_usd=1234, high_micro_usd=1234, unpriced=False)


def a_job(**changed: object) -> JobView:
    """Make a job that succeeded at its first attempt."""
    attempt = AttemptView(
        epoch=1,
        number=1,
        started_at=NOON,
        ended_at=NOON + timedelta(seconds=1.5),
        outcome="succeeded",
        provider_cost=EXACT,
    )
    known: dict[str, object] = {
        "job_id": "j",
        "kind": "document.analyze",
        "status": "succeeded",
        "created_at": NOON,
        "deadline_at": NOON,
        "expires_at": NOON,
        "created_by": "acme",
        "epoch": 1,
        "attempts": (attempt,),
        "provider_cost": EXACT,
        "charge_micro_usd": 20_000,
        "result": {"title": "Lease", "dates": [{"date": "2026-01-02", "reference": {"page": 2, "quote": "2 January"}}]},
    }
    return JobView.model_validate({**known, **changed})


def test_finished_job_shows_result_attempts_cost_and_charge() -> None:
    """All that the user pays for is on the screen."""
    assert list(job_lines(a_job())) == [
        "title: Lease",
        "dates:",
        "  - 2026-01-02 [page 2]",
        "",
        "attempt 1: succeeded after 1.5 s",
        "provider's cost: $0.001234",
        "user's charge: $0.020000",
    ]


def test_failed_job_shows_why_and_that_nothing_is_charged() -> None:
    """A failure has its code in place of a result."""
    lines = list(job_lines(a_job(status="failed", result=None, error={"code": "budget"}, charge_micro_usd=None)))

    assert "failed: budget" in lines
    assert "user's charge: none" in lines


@pytest.mark.parametrize(
    ("exact", "unpriced", "expected"),
    [
        (5, False, "$0.000005"),
        (None, False, "$0.000001 to $0.000009"),
        (None, True, "$0.000001 to $0.000009 (a part has"),
    ],
)
def test_cost_that_is_not_known_is_shown_by_its_bounds(exact: int | None, unpriced: bool, expected: str) -> None:
    """Unknown is never shown as zero."""
    view = CostView(exact_micro_usd=exact, low_micro_usd=1, high_micro_usd=9, unpriced=unpriced)

    assert cost(view).startswith(expected)


def test_money_is_exact_to_the_last_micro_dollar() -> None:
    """No rounding: sums on the screen are sums in the books."""
    assert money(1_000_001) == "$1.000001"


def test_item_without_a_place_is_just_its_facts() -> None:
    """A list of plain texts is shown as it is."""
    assert item_text("plain") == "plain"
    assert item_text({"name": "Acme", "role": None}) == "Acme"


def test_several_jobs_end_in_one_sum() -> None:
    """How many succeeded, and both sides of the money; what is not known stays between its bounds."""
    unknown = CostView(exact_micro_usd=None, low_micro_usd=0, high_micro_usd=6, unpriced=False)
    failed = a_job(status="failed", result=None, charge_micro_usd=None, provider_cost=unknown)

    assert sum_line([a_job(), a_job()]) == ("2 jobs: 2 succeeded; provider's cost $0.002468, users' charge $0.040000")
    assert sum_line([a_job(), failed]) == (
        "2 jobs: 1 succeeded; provider's cost $0.001234 to $0.001240, users' charge $0.020000"
    )
