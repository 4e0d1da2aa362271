"""Tariffs on the deployed stack: one charge for one result, to the micro-dollar, in four books that agree.

The job, its tenant's account by the API, the statement, and the audit that knows the jobs alone. What a charge by
tokens must be is computed from what the model server counted, not from what our books say of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from onceward.adapters.dynamodb.keys import account_key, entry_key, row_key
from onceward.domain.ledger import Verb
from onceward.domain.names import JobId, TenantId, identity_of
from onceward.domain.states import JobState
from onceward.kinds.text_generate import POLICY as GENERATE
from tests.scenarios.customers import quiet_afterwards, with_tenants
from tests.scenarios.operator import Operator
from tests.scenarios.stack import PATIENCE_WITH_STARTS, DeployedStack, until
from tests.scenarios.witness import Calls, Witness, assert_books_agree
from tests.support.deployed.terms import MAX_ATTEMPTS, PAGE, TARIFF, TOKENS
from tests.support.model_server import ModelServer

__all__ = ["quiet_afterwards"]

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(900)]

TENANT = TenantId("soylent")
MILLION = 1_000_000
LONG = "word " * 300  # of it, tokens alone cost more than the maximum


@pytest.fixture(scope="module")
def customer(stack: DeployedStack) -> Witness:
    """The evidence about a tenant whose every job is one of these."""
    return Witness(stack=with_tenants(stack, TENANT), tenant=TENANT)


@pytest.fixture(scope="module")
def operator(customer: Witness, tmp_path_factory: pytest.TempPathFactory) -> Operator:
    """Who opened its account."""
    operator = Operator.of(customer.stack, tmp_path_factory.mktemp("operator"))
    operator.grants(TENANT, "2")
    return operator


@pytest.fixture(autouse=True)
def _books_agree(customer: Witness, operator: Operator) -> Iterator[None]:
    """After each test nothing is held, and the audit agrees."""
    yield
    customer.quiet()
    assert operator.finds(TENANT) == []
    assert customer.account.reserved == 0
    assert_books_agree(customer.account)


def ended(customer: Witness, job_id: str) -> dict[str, Any]:
    """A job as its tenant sees it, once it is terminal."""
    return customer.stack.ended(job_id, patience=PATIENCE_WITH_STARTS, tenant=TENANT)


def own_account(customer: Witness) -> dict[str, Any]:
    """``GET /api/ai/account``, without what says that there is one."""
    answer = customer.stack.http.get("/api/ai/account", headers=customer.stack.headers(TENANT))
    assert answer.is_success, answer.text
    shown: dict[str, Any] = answer.json()
    assert shown.pop("is_limited")
    return shown


def by_tokens(model: ModelServer, job_id: str) -> int:
    """What the tokens that the model server counted for a job cost by tariff."""
    (counted,) = [one for key, one in model.counts()["by_key"].items() if key.startswith(job_id)]
    used: int = counted["prompt_tokens"] * TOKENS.input + counted["completion_tokens"] * TOKENS.output
    return min(TARIFF, -(-used // MILLION))


def test_each_tariff_is_charged_to_the_micro_dollar_and_all_books_say_so(
    customer: Witness, operator: Operator, model: ModelServer
) -> None:
    """Fixed, by pages and by tokens, below their maximum and at it: one call, one reservation, one charge each."""
    before = customer.account
    ids = {
        "fixed": customer.created("test.ask", "What is fixed?"),
        "pages": customer.created("test.paged", "3 pages, please."),
        "many pages": customer.created("test.paged", "9 pages, please."),
        "tokens": customer.created("test.metered", "What is short?"),
        "many tokens": customer.created("test.metered", LONG),
    }
    shown = {name: ended(customer, job_id) for name, job_id in ids.items()}
    charges = {name: job["charge_micro_usd"] for name, job in shown.items()}

    assert {job["status"] for job in shown.values()} == {"succeeded"}, shown
    assert charges == {
        "fixed": TARIFF,
        "pages": 3 * PAGE,
        "many pages": TARIFF,
        "tokens": by_tokens(model, ids["tokens"]),
        "many tokens": TARIFF,
    }
    assert 0 < charges["tokens"] < TARIFF
    for name, job_id in ids.items():
        assert customer.calls(job_id) == Calls(requests=1, computations=1)
        assert customer.amounts(job_id) == {"reserve": TARIFF, "capture": charges[name]}

    available, captured = before.available - sum(charges.values()), before.captured + sum(charges.values())
    lines = operator.told("account", "statement", TENANT, "--json")
    assert own_account(customer) == {
        "granted_micro_usd": before.granted,
        "available_micro_usd": available,
        "reserved_micro_usd": 0,
        "captured_micro_usd": captured,
        "in_flight": 0,
        "most_in_flight": None,
    }
    assert lines[-1]["available_micro_usd"] == available
    assert sum(line["micro_usd"] for line in lines if line["verb"] == "capture") == captured


type Move = Callable[[int], None]

TWO_PAGES = f"capture {2 * PAGE}, reserve {TARIFF}"
ONE_MORE = f"capture {2 * PAGE + 1}, reserve {TARIFF}"


def account_moved(customer: Witness, _job_id: str) -> tuple[Move, str]:
    """Call charged what is free: the account's own sum still holds, only the jobs know better."""
    captured = customer.account.captured
    line = f"account captured: expected {captured}, found {captured + 1}"
    return lambda by: _add(customer, "AccountsTable", account_key(TENANT), captured=by, available=-by), line


def entry_moved(customer: Witness, job_id: str) -> tuple[Move, str]:
    """Change a line of the book."""
    key = entry_key(TENANT, f"{job_id}#1#{Verb.CAPTURE}")
    line = f"{job_id}#1 (succeeded): expected {TWO_PAGES}, found {ONE_MORE}"
    return lambda by: _add(customer, "AccountsTable", key, micro_usd=by), line


def row_moved(customer: Witness, job_id: str) -> tuple[Move, str]:
    """Change what a job says that it was charged."""
    key = row_key(TENANT, identity_of(JobId(job_id)))
    line = f"{job_id}#1 (succeeded): expected {ONE_MORE}, found {TWO_PAGES}"
    return lambda by: _add(customer, "JobsTable", key, c=by), line


def _add(customer: Witness, table: str, key: dict[str, Any], **amounts: int) -> None:
    """Add to attributes behind everybody's back."""
    customer.stack.dynamodb.update_item(
        TableName=customer.stack.outputs[table],
        Key=key,
        UpdateExpression="ADD " + ", ".join(f"#{name} :{name}" for name in amounts),
        ConditionExpression="attribute_exists(pk)",
        ExpressionAttributeNames={f"#{name}": name for name in amounts},
        ExpressionAttributeValues={f":{name}": {"N": str(amount)} for name, amount in amounts.items()},
    )


@pytest.mark.parametrize("planted", [account_moved, entry_moved, row_moved])
def test_a_planted_micro_dollar_is_found_in_the_deployed_tables(
    customer: Witness, operator: Operator, model: ModelServer, planted: Callable[[Witness, str], tuple[Move, str]]
) -> None:
    """In account, entry or row: the audit's exit code says that the books differ, its line where and by how much."""
    job_id = customer.created("test.paged", "2 pages, please.")
    customer.at_rest(job_id)
    move, line = planted(customer, job_id)
    move(1)
    try:
        assert line in operator.finds(TENANT)
    finally:
        move(-1)


def test_a_failed_job_is_never_charged_even_if_its_answer_was_paid_for(
    customer: Witness, operator: Operator, model: ModelServer
) -> None:
    """Refused, exhausted, or failed over a good answer: provider cost and charge are two ledgers."""
    before = customer.account
    model.behave(text="<refuse>", status=400)
    model.behave(text="<never>", status=429)
    ids = {
        "refused": customer.created("test.metered", "<refuse>"),
        "exhausted": customer.created("test.metered", "<never>"),
        "paid": customer.created("test.paged", "No number of pages."),
    }
    shown = {name: ended(customer, job_id) for name, job_id in ids.items()}

    assert {job["status"] for job in shown.values()} == {"failed"}, shown
    assert {job["charge_micro_usd"] for job in shown.values()} == {0}
    assert all(customer.entries(job_id) == ["release", "reserve"] for job_id in ids.values())
    assert customer.account == before
    assert customer.calls(ids["exhausted"]) == Calls(requests=MAX_ATTEMPTS)
    assert customer.calls(ids["paid"]) == Calls(requests=1, computations=1)
    assert shown["paid"]["error"]["code"] == "no_pages"
    assert shown["paid"]["provider_cost"]["exact_micro_usd"] > 0
    assert shown["exhausted"]["provider_cost"]["exact_micro_usd"] == 0


def test_two_paid_attempts_are_charged_once(customer: Witness, model: ModelServer) -> None:
    """The first answer is lost with its process, the policy buys a second: the tariff counts the accepted one alone."""
    job_id = customer.created("test.metered", "Twice, alas. [[kill before_item]]")
    job = ended(customer, job_id)
    (counted,) = [one for key, one in model.counts()["by_key"].items() if key.startswith(job_id)]
    once = (counted["prompt_tokens"] * TOKENS.input + counted["completion_tokens"] * TOKENS.output) // 2

    assert job["status"] == "succeeded", job
    assert len(job["attempts"]) == 2
    assert customer.calls(job_id) == Calls(requests=2, computations=2)
    assert job["charge_micro_usd"] == -(-once // MILLION)
    assert customer.amounts(job_id) == {"reserve": TARIFF, "capture": job["charge_micro_usd"]}
    assert job["provider_cost"]["low_micro_usd"] < job["provider_cost"]["high_micro_usd"]  # one of them is a bound


def test_a_job_in_review_holds_its_reservation_until_it_is_decided(
    customer: Witness, operator: Operator, model: ModelServer
) -> None:
    """Neither charged nor free while nobody knows; the audit agrees with that too; failed by a person, it is free."""
    before = customer.account
    model.behave(text="<held in review>", drop="reset", stage="after")
    job_id = customer.created("text.generate", "<held in review>")
    assert customer.at_rest(job_id).state is JobState.NEEDS_REVIEW
    shown = own_account(customer)

    assert shown["reserved_micro_usd"] == GENERATE.tariff_micro_usd
    assert shown["available_micro_usd"] == before.available - GENERATE.tariff_micro_usd
    assert (shown["in_flight"], shown["captured_micro_usd"]) == (1, before.captured)
    assert customer.entries(job_id) == ["reserve"]
    assert operator.finds(TENANT) == []

    operator.told("review", "fail", job_id, "--tenant", TENANT, "--why", "they have nothing of it", "--json")
    until(lambda: customer.account == before or None, "what was held is free again")
    assert customer.entries(job_id) == ["release", "reserve"]
