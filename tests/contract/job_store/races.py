"""Promises about many writers at once: one wins, everybody else learns who, and the books balance."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from onceward.domain.claim import Claim, Claimant, claim_change, is_own_claim
from onceward.domain.ending import Verdict, settle_ops
from onceward.domain.names import CreateToken, RunToken, job_id_of
from onceward.domain.states import JobState
from onceward.domain.tally import Counted, Limit, tally_at
from onceward.domain.timing import Timing
from onceward.domain.transaction import Applied, CreateRow, Refused, WriteReply
from onceward.usecases.ports import Store
from tests.contract.job_store.stories import LIMITS, a_numbered_job, a_token, an_account, ask, fund, present, store_job
from tests.contract.job_store.transactions import DONE, a_create
from tests.support.builders import JOB_ID, NOW, TENANT, TOKEN, a_job, a_running_job, seconds

RIVALS = 64
GAVE_UP = Verdict(state=JobState.FAILED, error_code="gave_up")

type Write = Coroutine[Any, Any, WriteReply]


def race(writes: Iterable[Write]) -> list[WriteReply]:
    """Send all of them at once and wait for every answer."""

    async def all_at_once() -> list[WriteReply]:
        return await asyncio.gather(*writes)

    return ask(all_at_once())


def winners(replies: list[WriteReply]) -> list[int]:
    """Who was applied, by number."""
    return [number for number, reply in enumerate(replies) if isinstance(reply, Applied)]


def a_claimant(number: int) -> Claimant:
    """A worker with a token of its own."""
    token = RunToken(f"{number:026d}")
    return Claimant(job_id=JOB_ID, token=token, limits=LIMITS, now=NOW, timing=Timing())


class RacePromises:
    """What holds when many write at once."""

    def test_one_of_many_creates_wins(self, store: Store) -> None:
        """Everybody else gets the winner's row."""
        tokens = [CreateToken(f"{number:08d}" + "C" * 18) for number in range(RIVALS)]
        lives = [replace(a_job(), create_token=one, job_id=job_id_of(a_job().identity, one)) for one in tokens]
        replies = race(store.transact([CreateRow(job, NOW)], a_token()) for job in lives)
        [winner] = winners(replies)

        assert present(store, a_job()) == lives[winner]
        assert all(reply.row == lives[winner] for reply in replies if isinstance(reply, Refused))

    def test_one_of_many_claims_wins(self, store: Store) -> None:
        """One attempt is counted, one token is on the row, and every loser sees it."""
        store_job(store, a_job())
        claimants = [a_claimant(number) for number in range(RIVALS)]
        replies = race(store.update_job(TENANT, JOB_ID, claim_change(Claim.START, who)) for who in claimants)
        [winner] = winners(replies)
        row = present(store, a_job())

        assert is_own_claim(row, claimants[winner].token)
        assert (row.attempts, row.seq) == (1, 2)
        assert all(reply.row == row for reply in replies if isinstance(reply, Refused))

    def test_one_of_many_takeovers_wins(self, store: Store) -> None:
        """The lease that all of them saw expired is there for the first one only."""
        seen = store_job(store, a_running_job(lease_until=NOW - seconds(10)))
        claimants = [a_claimant(number) for number in range(RIVALS)]
        takeovers = (claim_change(Claim.TAKEOVER, who, seen) for who in claimants)
        replies = race(store.update_job(TENANT, JOB_ID, takeover) for takeover in takeovers)
        [winner] = winners(replies)
        row = present(store, seen)

        assert (row.run_token, row.lost, row.attempts) == (claimants[winner].token, 1, 1)

    def test_one_of_many_settles_wins(self, store: Store) -> None:
        """Success and failure race: the account follows the one that ended the row."""
        fund(store, 1_000)
        ask(store.transact(a_create(a_running_job(), 400), a_token()))
        job = present(store, a_job())
        verdicts = [DONE if number % 2 else GAVE_UP for number in range(RIVALS)]
        replies = race(store.transact(settle_ops(job, TOKEN, verdict, NOW), a_token()) for verdict in verdicts)
        [winner] = winners(replies)

        paid = an_account(available=700, captured=300)
        freed = an_account(available=1_000)
        assert present(store, job).state is verdicts[winner].state
        assert ask(store.get_account(TENANT)) == (paid if verdicts[winner] is DONE else freed)

    @pytest.mark.failure_mode("F69")
    def test_budget_is_reserved_by_as_many_as_it_holds(self, store: Store) -> None:
        """One account, many creates at once: what it cannot hold is refused, and nothing is lost in between."""
        fund(store, 3_000)
        jobs = [a_numbered_job(number) for number in range(RIVALS)]
        replies = race(store.transact(a_create(job, 100), a_token()) for job in jobs)

        assert len(winners(replies)) == 30
        assert ask(store.get_account(TENANT)) == an_account(available=0, reserved=3_000, in_flight=30)

    def test_last_place_in_flight_is_taken_once(self, store: Store) -> None:
        """Many creates at once: as many as the tenant's limit allows, each with its row, and not one more."""
        fund(store, 10_000)
        ask(store.limit_account(TENANT, 7))
        jobs = [a_numbered_job(number) for number in range(RIVALS)]
        replies = race(store.transact(a_create(job, 1, is_capped=True), a_token()) for job in jobs)

        assert len(winners(replies)) == 7
        assert all(reply.is_account_refused for reply in replies if isinstance(reply, Refused))
        account = ask(store.get_account(TENANT))
        assert account is not None
        assert (account.in_flight, account.reserved) == (7, 7)

    def test_last_place_of_a_limit_is_taken_once(self, store: Store) -> None:
        """Many count at once: as many as the limit allows, and not one more."""
        tally = tally_at(Limit(Counted.CREATES, 10, timedelta(minutes=1)), TENANT, NOW)

        async def all_at_once() -> list[bool]:
            return await asyncio.gather(*(store.count(tally) for _ in range(RIVALS)))

        assert ask(all_at_once()).count(True) == 10

    def test_books_balance_after_many_settles(self, store: Store) -> None:
        """Every reservation was captured or released, once, whatever order the writes came in."""
        fund(store, RIVALS * 400)
        jobs = [a_running_job(job_id=a_numbered_job(number).job_id) for number in range(RIVALS)]
        race(store.transact(a_create(job, 400), a_token()) for job in jobs)
        held = [replace(job, reserved_micro_usd=400, in_flight=True) for job in jobs]
        endings = [DONE if number % 2 else GAVE_UP for number in range(RIVALS)]
        # Each settles twice at once, as a worker and its SDK's repeat would under a forgotten token.
        replies = race(
            store.transact(settle_ops(job, TOKEN, ending, NOW), a_token())
            for job, ending in zip(held * 2, endings * 2, strict=True)
        )

        captured = RIVALS // 2 * 300
        assert len(winners(replies)) == RIVALS
        assert ask(store.get_account(TENANT)) == an_account(available=RIVALS * 400 - captured, captured=captured)
