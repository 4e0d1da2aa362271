"""Each write is refused by the very sentence that guards it: a row of which all but that sentence is true."""

from __future__ import annotations

from dataclasses import replace

import pytest

from onceward.domain.cancelling import decide_cancel
from onceward.domain.change import RowChange
from onceward.domain.claim import Claim, Claimant, claim_change
from onceward.domain.ending import beat_change, journal_change, next_attempt_change, review_change, wait_change
from onceward.domain.erasing import erase_change
from onceward.domain.leaving import leave_ops
from onceward.domain.states import JobState, WaitingFor
from onceward.domain.timing import Timing
from tests.contract.job_store.stories import LIMITS
from tests.support.builders import JOB_ID, NOW, TOKEN, a_job, a_running_job, seconds
from tests.support.refusals import CANCELLED, EXPIRED, FLIGHT, FOREIGN, OTHER_LIFE, Refusal, assert_refused, part_of

WHO = Claimant(job_id=JOB_ID, token=TOKEN, limits=LIMITS, now=NOW, timing=Timing())
RUNNING, ENDED = a_running_job(), a_job(state=JobState.SUCCEEDED)
ASLEEP = a_job(state=JobState.NEEDS_REVIEW, wake_at=NOW + seconds(60))


def _cancel() -> RowChange:
    wanted = decide_cancel(a_job(), NOW)
    assert wanted is not None
    return wanted.row.change


def _leave() -> RowChange:
    return part_of(leave_ops(a_job(flight=FLIGHT)), FLIGHT)


def _wait() -> RowChange:
    return wait_change(RUNNING, TOKEN, NOW + seconds(5), WaitingFor.RETRY, Timing())


def _review() -> RowChange:
    return review_change(RUNNING, TOKEN, NOW, Timing())


def _journal() -> RowChange:
    return journal_change(RUNNING, TOKEN, NOW + seconds(90))


def _next() -> RowChange:
    return next_attempt_change(RUNNING, TOKEN, NOW)


def _beat() -> RowChange:
    return beat_change(TOKEN, NOW + seconds(90))


def _erase() -> RowChange:
    return erase_change(ENDED, NOW)


def _close() -> RowChange:
    return claim_change(Claim.CLOSE, WHO)


def _look() -> RowChange:
    return claim_change(Claim.LOOK, WHO)


REFUSALS = (
    Refusal("a cancel of another life", _cancel, a_job(), OTHER_LIFE),
    Refusal("a cancel of an expired job", _cancel, a_job(), EXPIRED),
    Refusal("a cancel that is recorded already", _cancel, a_job(), CANCELLED),
    Refusal("a closing claim of a running job", _close, a_job(), {"state": JobState.RUNNING}),
    Refusal("a look that comes early", _look, replace(ASLEEP, wake_at=NOW), {"wake_at": None}),
    Refusal("a journal past a cancel", _journal, RUNNING, CANCELLED),
    Refusal("a journal that others overtook", _journal, RUNNING, {"journals": RUNNING.journals + 1}),
    Refusal("a journal of another run", _journal, RUNNING, FOREIGN),
    Refusal("a beat of another run", _beat, RUNNING, FOREIGN),
    Refusal("a next attempt of another run", _next, RUNNING, FOREIGN),
    Refusal("a next attempt past a cancel", _next, RUNNING, CANCELLED),
    Refusal("a wait of another run", _wait, RUNNING, FOREIGN),
    Refusal("a wait past a cancel", _wait, RUNNING, CANCELLED),
    Refusal("a review of another run", _review, RUNNING, FOREIGN),
    Refusal("an erasure of another life", _erase, ENDED, OTHER_LIFE),
    Refusal("an erasure of an expired job", _erase, ENDED, EXPIRED),
    Refusal("leaving another life's flight", _leave, a_job(job_id=FLIGHT), OTHER_LIFE),
)


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal.name)
def test_a_write_is_refused_by_its_own_guard(refusal: Refusal) -> None:
    """It may be applied to the row it was made for, and not to one that differs in this alone."""
    assert_refused(refusal)
