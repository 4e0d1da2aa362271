"""Processes die at random under the load of three tenants: nothing is lost, and no money moves without a record."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import pytest

from onceward.domain.names import TenantId
from onceward.domain.states import JobState
from tests.scenarios.lost_jobs import Evidence, evidence_of
from tests.scenarios.stack import DeployedStack
from tests.scenarios.storm import Storm, beside, strike, sweep
from tests.scenarios.witness import Witness, assert_books_agree
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.thorough

TENANTS = ("initech", "umbrella", "hooli")
LARGE = 0.8  # the share of the first one
ENOUGH = 240.0  # seconds: a process that dies while it starts leaves its message hidden until the sweeper's next step
STORMS = [
    pytest.param(Storm(jobs=30, answer_s=2, seconds=10, apart=(1, 3), spares_starting=True), id="short"),
    pytest.param(Storm(jobs=300, answer_s=5, seconds=120, apart=(1, 5)), id="long", marks=pytest.mark.soak),
]


@pytest.fixture
def witnesses(stack: DeployedStack, witness: Witness) -> list[Witness]:
    """The evidence about three tenants with accounts; the first one has one already."""
    others = [Witness(stack=stack, tenant=TenantId(tenant)) for tenant in TENANTS[1:]]
    for other in others:
        other.open_account()
    return [witness, *others]


def created(witnesses: Sequence[Witness], jobs: int) -> list[tuple[Witness, str]]:
    """Create all jobs, the large tenant's first: the small ones come to a full queue."""
    large = round(jobs * LARGE)
    owners = [witnesses[0]] * large + [witnesses[1 + number % 2] for number in range(jobs - large)]
    with ThreadPoolExecutor(2) as pool:
        ids = list(pool.map(lambda owner: owner.created("test.stubborn", "Say it, come what may."), owners))
    return list(zip(owners, ids, strict=True))


def wait_of(found: Evidence) -> float:
    """How many seconds a job waited for its first attempt."""
    began = datetime.fromisoformat(found.shown["attempts"][0]["started_at"])
    return (began - found.row.created_at).total_seconds()


def assert_paid_once_or_recorded(found: Evidence) -> None:
    """The model worked for a job once, and once more only for each outcome that is recorded as unknown."""
    has_result = found.row.state is JobState.SUCCEEDED

    assert found.row.state in {JobState.SUCCEEDED, JobState.NEEDS_REVIEW}, found.shown
    assert found.calls.computations <= found.outcomes.count("unknown") + int(has_result), found.shown
    assert found.calls.requests <= len(found.outcomes), found.shown
    assert found.verbs == (["capture", "reserve"] if has_result else ["reserve"])


@pytest.mark.failure_mode("F38")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("storm", STORMS)
def test_processes_killed_at_random_lose_nothing(
    witnesses: list[Witness], model: ModelServer, storm: Storm, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every job ends, a second purchase is on record or there is none, and the books agree."""
    stack, killed = witnesses[0].stack, list[int]()
    model.behave(delay_s=storm.answer_s)
    with beside(sweep(stack)):
        with beside(strike(stack, storm, killed)) as storming:
            jobs = created(witnesses, storm.jobs)
            storming.join()
        for owner, job_id in jobs:
            owner.at_rest(job_id, patience=ENOUGH)
        stack.lose_messages()  # those of processes that died while they started are hidden for six timeouts
    found = [(owner, evidence_of(owner, job_id)) for owner, job_id in jobs]
    waits = {owner.tenant: [wait_of(one) for whose, one in found if whose is owner] for owner in witnesses}
    with capsys.disabled():
        print(f"\n  {len(killed)} processes killed, {sum(len(one.outcomes) for _, one in found)} attempts")
        for tenant, seconds in waits.items():
            median, longest = statistics.median(seconds), max(seconds)
            print(f"  {tenant}: {len(seconds)} jobs waited {median:.1f} s (median), {longest:.1f} s at most")

    assert killed
    for _, one in found:
        assert_paid_once_or_recorded(one)
    for owner in witnesses:
        assert_books_agree(owner.account)
