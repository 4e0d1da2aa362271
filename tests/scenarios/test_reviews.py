"""Reviews on the deployed stack, by the API and by the command: a person's verdict moves job and money, once.

The model server knows what happened to each call, and is asked for what a person would find in a provider's console.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from onceward.domain.names import TenantId
from onceward.domain.states import JobState
from onceward.kinds.text_generate import POLICY
from onceward.local.model import STAND_IN_MODEL
from tests.scenarios.customers import WRITER, quiet_afterwards, token_of
from tests.scenarios.operator import Operator
from tests.scenarios.stack import DeployedStack
from tests.scenarios.witness import Calls, Witness, assert_books_agree
from tests.support.model_server import ModelServer

__all__ = ["quiet_afterwards"]

TENANT = TenantId("wallace")
TARIFF = POLICY.tariff_micro_usd
WHY = "this is what their console says"
FOUND = {"text": "found in their console", "model": STAND_IN_MODEL}
VERDICTS: dict[str, dict[str, Any]] = {"accept": {"result": FOUND}, "fail": {}, "retry": {"may_pay_twice": True}}


@pytest.fixture(scope="module")
def customer(stack: DeployedStack) -> Witness:
    """A tenant with an account, one of whose people decides."""
    token = token_of(stack, TENANT, (*WRITER, "ops"))
    return Witness(stack=replace(stack, tokens={**stack.tokens, TENANT: token}), tenant=TENANT)


@dataclass(frozen=True, slots=True)
class Desk:
    """Where somebody reads reviews and decides."""

    listed: Callable[[], list[dict[str, Any]]]
    resolve: Callable[[str, str], dict[str, Any]]


def by_api(customer: Witness, _operator: Operator, _folder: Path) -> Desk:
    """With a token of the scope ``ops``, within one tenant."""

    def listed() -> list[dict[str, Any]]:
        answer = customer.stack.http.get("/api/ai/reviews", headers=customer.stack.headers(TENANT))
        return list(answer.json()["reviews"])

    def resolve(job_id: str, verdict: str) -> dict[str, Any]:
        answer = resolved(customer, job_id, verdict)
        assert answer.is_success, answer.text
        record: dict[str, Any] = answer.json()["record"]
        return record

    return Desk(listed, resolve)


def resolved(customer: Witness, job_id: str, verdict: str) -> httpx.Response:
    """POST a verdict on the first epoch."""
    return customer.stack.http.post(
        f"/api/ai/reviews/{job_id}/resolve",
        json={"verdict": verdict, "epoch": 1, "why": WHY, **VERDICTS[verdict]},
        headers=customer.stack.headers(TENANT),
    )


def by_command(_customer: Witness, operator: Operator, folder: Path) -> Desk:
    """With AWS rights, over all tenants."""
    found = folder / "found.json"
    found.write_text(json.dumps(FOUND))
    options = {"accept": ("--result", str(found)), "fail": (), "retry": ("--yes-i-may-pay-twice",)}

    def listed() -> list[dict[str, Any]]:
        return operator.told("review", "list", "--tenant", TENANT, "--json")

    def resolve(job_id: str, verdict: str) -> dict[str, Any]:
        words = ("review", verdict, job_id, "--tenant", TENANT, "--epoch", "1", "--why", WHY, "--json")
        (record,) = operator.told(*words, *options[verdict])
        return record

    return Desk(listed, resolve)


@pytest.fixture
def operator(stack: DeployedStack, tmp_path: Path) -> Operator:
    """Who opened the tenant's account."""
    operator = Operator.of(stack, tmp_path)
    operator.grants(TENANT, "1")
    return operator


@pytest.fixture
def in_review(customer: Witness, operator: Operator, model: ModelServer) -> Iterator[dict[str, str]]:
    """A job for each verdict: the model has worked, and nobody has heard of it. Afterwards the audit agrees."""
    model.behave(text="<unheard", drop="reset", stage="after", times=len(VERDICTS))
    ids = {verdict: customer.created(POLICY.name, f"<unheard {verdict}>") for verdict in VERDICTS}
    for job_id in ids.values():
        assert customer.at_rest(job_id).state is JobState.NEEDS_REVIEW
    yield ids
    assert operator.finds(TENANT) == []
    assert customer.account.reserved == 0
    assert_books_agree(customer.account)


@pytest.mark.parametrize("way", [by_api, pytest.param(by_command, marks=pytest.mark.thorough)])
def test_each_verdict_is_taken_once_and_moves_the_money(
    customer: Witness,
    operator: Operator,
    in_review: dict[str, str],
    tmp_path: Path,
    way: Callable[[Witness, Operator, Path], Desk],
) -> None:
    """Held until then; accepted, it is charged; failed, it is free; retried, it is carried over and bought again."""
    desk = way(customer, operator, tmp_path)
    listed = {one["job_id"]: one for one in desk.listed()}
    held, books = customer.account.reserved, operator.finds(TENANT)
    captured = customer.account.captured
    records = {verdict: desk.resolve(job_id, verdict) for verdict, job_id in in_review.items()}
    again = {verdict: desk.resolve(job_id, verdict) for verdict, job_id in in_review.items()}
    ended = {verdict: customer.at_rest(job_id) for verdict, job_id in in_review.items()}
    verbs = {verdict: sorted(customer.entries(job_id)) for verdict, job_id in in_review.items()}

    assert listed.keys() == set(in_review.values())
    assert {one["provider_cost"]["exact_micro_usd"] for one in listed.values()} == {None}
    assert (held, books) == (len(VERDICTS) * TARIFF, [])
    assert again == records
    assert {(record["epoch"], record["why"]) for record in records.values()} == {(1, WHY)}
    assert {verdict: (job.state, job.epoch) for verdict, job in ended.items()} == {
        "accept": (JobState.SUCCEEDED, 1),
        "fail": (JobState.FAILED, 1),
        "retry": (JobState.SUCCEEDED, 2),
    }
    assert verbs == {
        "accept": ["capture", "reserve"],
        "fail": ["release", "reserve"],
        "retry": ["capture", "carry", "reserve"],
    }
    assert customer.account.captured == captured + 2 * TARIFF
    assert customer.shown(in_review["accept"])["result"] == FOUND
    assert {verdict: customer.calls(job_id) for verdict, job_id in in_review.items()} == {
        "accept": Calls(requests=1, computations=1),
        "fail": Calls(requests=1, computations=1),
        "retry": Calls(requests=2, computations=2),
    }


@pytest.mark.thorough
def test_another_verdict_comes_too_late(customer: Witness, in_review: dict[str, str]) -> None:
    """What was decided stands, whoever asks for something else; a retry has to say that it may pay twice."""
    for verdict, job_id in in_review.items():
        assert resolved(customer, job_id, verdict).is_success
    others = {"accept": "fail", "fail": "retry", "retry": "accept"}
    for verdict, other in others.items():
        refused = resolved(customer, in_review[verdict], other)
        assert (refused.status_code, refused.json()["code"]) == (409, "review_resolved"), refused.text
    for job_id in in_review.values():
        customer.at_rest(job_id)
