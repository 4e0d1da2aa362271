"""Many creates at once, through the deployed API, judged by the tables and by the model's own count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from onceward.domain.names import TenantId
from onceward.domain.states import JobState
from tests.scenarios.customers import quiet_afterwards, with_tenants
from tests.scenarios.stack import PATIENCE_WITH_STARTS, STARTS, DeployedStack
from tests.scenarios.witness import Witness, assert_books_agree
from tests.support.deployed.kinds import KINDS
from tests.support.model_server import ModelServer

__all__ = ["quiet_afterwards"]

TARIFF = KINDS.find("test.ask").policy.tariff_micro_usd
CREATES = 50
KEYS = 10
BUDGETED = 10  # jobs
ASKED = 100
# Tenants whose names, and keys, run into each other wherever a separator might be put.
ADJOINING = (("one", "b.c"), ("one.b", "c"), ("one", "b#c"), ("one_b", "c"), ("one", "bc"), ("oneb", "c"))


@dataclass(frozen=True, slots=True)
class Crowd:
    """The stack with tenants of its own, and how many ask at the same time."""

    stack: DeployedStack
    at_once: int

    def ask(self, asks: Sequence[Callable[[], httpx.Response]]) -> list[httpx.Response]:
        """Ask all of it, so many at the same time."""
        with ThreadPoolExecutor(self.at_once) as pool:
            return [wish.result() for wish in [pool.submit(ask) for ask in asks]]

    def witness(self, name: str, budget: int) -> Witness:
        """A tenant that nobody else is, with so much to spend."""
        tenant = TenantId(f"{name}-{self.at_once}")
        witness = Witness(stack=with_tenants(self.stack, tenant), tenant=tenant)
        witness.open_account(budget)
        return witness


@pytest.fixture(
    scope="module",
    params=[8, pytest.param(50, marks=pytest.mark.thorough)],  # each at once is a process of the API: see ``warm``
    ids="{}-at-once".format,
)
def crowd(stack: DeployedStack, request: pytest.FixtureRequest) -> Crowd:
    """As many processes of the API as ask at once; those that an earlier module has started are used."""
    if processes(stack) < request.param and request.param > STARTS:
        with stack.queue_closed():
            waited_for = stack.created("test.ask", {"prompt": "Wait for me."}, key="warming")
            stack.warm(waited_for, request.param)
            stack.http.post(f"/api/ai/jobs/{waited_for}/cancel", headers=stack.headers())
    return Crowd(stack, request.param)


def of_tenant(item: Mapping[str, Any], tenant: str) -> bool:
    """Whether an item is a tenant's."""
    return str(item["pk"]["S"]).startswith(f"{tenant}#")


def processes(stack: DeployedStack) -> int:
    """How many processes of the API's function are running."""
    found = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError):
            command = (folder / "cmdline").read_text()
            found += str(stack.cloud.folder) in command and stack.outputs["ApiFunction"] in command
    return found


def test_fifty_creates_over_ten_keys_and_two_bodies_are_ten_jobs(crowd: Crowd, model: ModelServer) -> None:
    """Invariants 7 and 8: each key has one job; equal bodies replay it, others are refused; ten calls, ten charges."""
    witness = crowd.witness("keys", KEYS * TARIFF)
    asked = [(f"key {number % KEYS}", f"Body {number // KEYS % 2}.") for number in range(CREATES)]
    ask = partial(witness.stack.create, "test.ask", tenant=witness.tenant)
    answers = crowd.ask([partial(ask, {"prompt": f"{key}: {body}"}, key=key) for key, body in asked])

    jobs: dict[str, set[str]] = {}
    statuses: dict[str, Counter[str]] = {}
    for (key, _), answer in zip(asked, answers, strict=True):
        body = answer.json()
        kind = "made" if "idempotent-replayed" not in answer.headers else "replayed"
        statuses.setdefault(key, Counter())[kind if answer.status_code == 202 else body["code"]] += 1
        jobs.setdefault(key, set()).update([body["job_id"]] if answer.status_code == 202 else [])
    assert all(count["made"] == 1 for count in statuses.values()), statuses
    assert all(set(count) <= {"made", "replayed", "idempotency_key_reused"} for count in statuses.values()), statuses
    assert all(count["idempotency_key_reused"] in {2, 3} for count in statuses.values()), statuses
    ids = [job_id for found in jobs.values() for job_id in found]
    assert len(ids) == len(jobs) == KEYS

    ended = [witness.at_rest(job_id, patience=PATIENCE_WITH_STARTS) for job_id in ids]
    assert {job.state for job in ended} == {JobState.SUCCEEDED}
    assert [witness.calls(job_id).requests for job_id in ids] == [1] * KEYS
    assert [witness.entries(job_id) for job_id in ids] == [["capture", "reserve"]] * KEYS
    assert_books_agree(witness.account)
    assert (witness.account.available, witness.account.captured) == (0, KEYS * TARIFF)


def test_budget_of_ten_is_given_to_ten_of_a_hundred(crowd: Crowd, model: ModelServer) -> None:
    """Exactly ten are stored; the others answer 402 and leave nothing: no row, no input, no entry.

    Fifty processes answer the hundred: two cores cannot start a hundred of them.
    """
    witness = crowd.witness("race", BUDGETED * TARIFF)
    prompt = {"prompt": "A place in the budget."}
    ask = partial(witness.stack.create, "test.ask", prompt, tenant=witness.tenant)
    answers = crowd.ask([partial(ask, key=f"race {number}") for number in range(ASKED)])
    told = Counter(answer.status_code if answer.is_success else answer.json()["code"] for answer in answers)
    ids = [answer.json()["job_id"] for answer in answers if answer.is_success]

    assert told == {202: BUDGETED, "budget_exceeded": ASKED - BUDGETED}
    assert_books_agree(witness.account)
    assert witness.account.available == 0
    assert {job_id for job_id in ids if "reserve" in witness.entries(job_id)} == set(ids)
    stored = Counter(item["sk"]["S"] for item in witness.stack.items() if of_tenant(item, witness.tenant))
    assert (stored["job"], stored["input"]) == (BUDGETED, BUDGETED)
    for job_id in ids:
        witness.at_rest(job_id, patience=PATIENCE_WITH_STARTS)
    assert (witness.account.captured, witness.account.reserved) == (BUDGETED * TARIFF, 0)


@pytest.mark.failure_mode("F13")
def test_keys_and_tenants_that_run_into_each_other_are_apart(stack: DeployedStack) -> None:
    """One body, six pairs that any separator would confuse: six jobs, each in its own tenant's partition alone."""
    prompt = {"prompt": "Whose is it?"}
    known = with_tenants(stack, *sorted({tenant for tenant, _ in ADJOINING}))
    ids = {pair: known.created("test.ask", prompt, key=pair[1], tenant=pair[0]) for pair in ADJOINING}

    assert len({job_id[:26] for job_id in ids.values()}) == len(ADJOINING)
    for (tenant, _), job_id in ids.items():
        rows = [item["pk"]["S"] for item in stack.items(job_id[:26]) if item["pk"]["S"].endswith(job_id[:26])]
        assert rows == [f"{tenant}#{job_id[:26]}"]


def test_two_tenants_with_one_key_have_a_job_each(stack: DeployedStack) -> None:
    """ID-16: neither sees the other's, whoever was first."""
    prompt = {"prompt": "The same for both."}
    ids = {tenant: stack.created("test.ask", prompt, key="the same", tenant=tenant) for tenant in ("acme", "globex")}
    foreign = stack.http.get(f"/api/ai/jobs/{ids['acme']}", headers=stack.headers("globex"))

    assert ids["acme"][:26] != ids["globex"][:26]
    assert foreign.status_code == 404
