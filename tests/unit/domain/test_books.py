"""Money, names and the ledger: small rules that everything else adds up by."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceward.domain.due import FLIGHT_SHARD, REVIEW_SHARD, all_shards, job_shards, shard_of
from onceward.domain.ledger import Account, capture, release, reserve
from onceward.domain.money import Cost
from onceward.domain.names import (
    CreateToken,
    Identity,
    StepKey,
    downstream_key,
    flight_identity,
    identity_of,
    is_flight_id,
    is_job_id,
    is_step_key,
    is_tenant_id,
    job_id_of,
)
from onceward.domain.states import JobState
from tests.support.builders import IDENTITY, JOB_ID, TENANT

amounts = st.integers(0, 10**9)


@pytest.mark.failure_mode("F71")
@given(amounts, amounts, amounts, amounts)
def test_costs_add_bound_by_bound(a: int, b: int, c: int, d: int) -> None:
    """A sum's bounds are the sums of the bounds."""
    one, other = Cost(low=a, high=a + b), Cost(low=c, high=c + d)

    assert one + other == Cost(low=a + c, high=a + b + c + d)
    assert one + Cost.nothing() == one


def test_unpriced_is_never_exact_and_never_lost_in_a_sum() -> None:
    """A missing price is not zero."""
    unpriced = Cost(low=0, high=0, unpriced=True)

    assert not unpriced.is_exact
    assert (unpriced + Cost.exact(5)).unpriced


@pytest.mark.parametrize(("low", "high"), [(-1, 0), (2, 1)])
def test_impossible_bounds_are_refused(low: int, high: int) -> None:
    """A cost that no truth fits into is a bug where it is made."""
    with pytest.raises(ValueError, match="bounds"):
        Cost(low=low, high=high)


@given(
    st.lists(st.tuples(st.sampled_from(["capture", "release"]), st.integers(0, 400), st.integers(0, 400)), max_size=9)
)
def test_invariant_7_books_balance_after_any_moves(moves: list[tuple[str, int, int]]) -> None:
    """Available + reserved + captured = granted, none negative, whatever is reserved, captured and released."""
    account = Account(tenant_id=TENANT, granted=1_000, available=1_000, reserved=0, captured=0)
    for verb, held, wish in moves:
        hold = reserve(TENANT, held)
        if not hold.holds(account):
            continue
        account = hold.apply(account)
        end = capture(TENANT, held, min(wish, held)) if verb == "capture" else release(TENANT, held)

        assert end.holds(account)
        account = end.apply(account)

        assert account.available + account.reserved + account.captured == account.granted
        assert min(account.available, account.reserved, account.captured) >= 0


def test_no_account_holds_nothing() -> None:
    """A change of an account that does not exist is refused."""
    assert not reserve(TENANT, 1).holds(None)


@pytest.mark.parametrize(
    ("is_capped", "most", "holds"), [(True, 2, False), (True, 3, True), (False, 2, True), (True, None, True)]
)
def test_only_a_capped_reservation_needs_a_place(is_capped: bool, most: int | None, holds: bool) -> None:
    """Two are in flight: a third needs a limit of three, or none, or to be asked for by nobody new."""
    account = Account(
        tenant_id=TENANT, granted=9, available=9, reserved=0, captured=0, in_flight=2, most_in_flight=most
    )

    assert reserve(TENANT, 1, is_capped=is_capped).holds(account) is holds


@pytest.mark.parametrize("text", ["", "A" * 26, "0" * 26])
def test_a_flight_s_id_is_an_id_and_like_no_client_s(text: str) -> None:
    """Identities of keys are base32, which lacks its first character; the sweeper finds it under its own shard."""
    made = job_id_of(flight_identity(CreateToken(text)), CreateToken("ABCDEFGHIJ"))

    assert is_job_id(made)
    assert is_flight_id(made)
    assert not is_flight_id(job_id_of(Identity(IDENTITY), CreateToken("ABCDEFGHIJ")))
    assert not is_job_id(f"A0{made[2:]}")
    assert (shard_of(made, JobState.RUNNING), shard_of(made, JobState.NEEDS_REVIEW)) == (FLIGHT_SHARD, REVIEW_SHARD)
    assert FLIGHT_SHARD in set(all_shards()) - set(job_shards())


def test_job_id_is_identity_and_a_piece_of_the_create_token() -> None:
    """A key used again after expiry is another job under the same identity."""
    made = job_id_of(Identity(IDENTITY), CreateToken("ABCDEFGHIJ"))

    assert made == JOB_ID
    assert is_job_id(made)
    assert identity_of(made) == IDENTITY


@pytest.mark.parametrize("text", ["", IDENTITY, f"{IDENTITY}-abcdefgh", f"{JOB_ID}\n", f"{JOB_ID}A", "../../etc"])
def test_what_is_no_job_id_is_known_as_such(text: str) -> None:
    """Nothing but our own shape reaches a key."""
    assert not is_job_id(text)


@pytest.mark.parametrize("text", ["", "a#b", "a b", "ä", "a" * 65, "a\n", ".", ".."])
def test_what_cannot_name_a_tenant_is_refused(text: str) -> None:
    """A tenant's name is part of keys: separators and oddities stay out."""
    assert not is_tenant_id(text)


@given(st.from_regex(r"[A-Za-z0-9_.-]{1,32}/[0-9]{1,4}", fullmatch=True), st.integers(1, 9999))
def test_downstream_key_fits_every_target(step: str, epoch: int) -> None:
    """64 of ``[A-Za-z0-9_-]`` at most, the same for every attempt."""
    assert is_step_key(step)
    key = downstream_key(JOB_ID, epoch, StepKey(step))

    assert len(key) <= 64
    assert key.replace("-", "").replace("_", "").isalnum()
    assert key == downstream_key(JOB_ID, epoch, StepKey(step))


def test_steps_that_look_alike_have_keys_of_their_own() -> None:
    """A target that dedupes must not take one step for another because a name was cut or spelled alike."""
    steps = ["a.b/1", "a_b/1", "a-b/1", "summarise_chapter_one/1", "summarise_chapter_two/1", "x/1", "x/11"]

    assert len({downstream_key(JOB_ID, 1, StepKey(step)) for step in steps}) == len(steps)
