"""Answers that get lost on the way back to the deployed API: each write of a create, and the message after it.

The function is told to ask AWS by way of microburst, a proxy that lets a request happen and then hangs up.
"""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from onceward.domain.names import TenantId
from onceward.domain.states import JobState
from tests.scenarios.customers import quiet_afterwards, with_tenants
from tests.scenarios.stack import DeployedStack, until
from tests.scenarios.witness import Witness, assert_books_agree
from tests.scenarios.worker_settings import told
from tests.support.deployed.kinds import KINDS
from tests.support.lossy import LossyPath, lossy_path
from tests.support.model_server import ModelServer

__all__ = ["quiet_afterwards"]

TENANT = TenantId("lossy")
TARIFF = KINDS.find("test.ask").policy.tariff_micro_usd
SENDS = 3  # how often the API's clients send at most
SMALL, LARGE = "Was it stored?", "Was all of it stored? " * 300


@pytest.fixture(scope="module")
def own(stack: DeployedStack) -> Witness:
    """A tenant with money for these jobs."""
    witness = Witness(stack=with_tenants(stack, TENANT), tenant=TENANT)
    witness.open_account(10 * TARIFF)
    return witness


@pytest.fixture(scope="module")
def lossy(own: Witness, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LossyPath]:
    """The proxy, and the API behind it until the module's end; nothing is under way when the function changes."""
    with (
        lossy_path(own.stack.cloud, tmp_path_factory.mktemp("lossy")) as path,
        told(own, function="ApiFunction", AWS_ENDPOINT_URL=path.url),
    ):
        own.stack.http.get("/api/ai/jobs", headers=own.stack.headers(TENANT))  # clients connect before a test counts
        yield path


def ask(own: Witness, key: str, prompt: str = SMALL) -> httpx.Response:
    """Create, or create again."""
    return own.stack.create("test.ask", {"prompt": prompt}, key=key, tenant=TENANT)


def assert_one_job(own: Witness, job_id: str) -> None:
    """One row, one input, one reservation, and in the end one call and one charge."""
    items = [item["sk"]["S"] for item in own.stack.items(job_id[:26])]
    assert (items.count("job"), items.count("input")) == (1, 1)
    assert own.at_rest(job_id).state is JobState.SUCCEEDED
    assert own.entries(job_id) == ["capture", "reserve"]
    assert own.calls(job_id).requests == 1
    assert_books_agree(own.account)


@pytest.mark.parametrize(
    ("service", "operation", "prompt"),
    [("dynamodb", "TransactWriteItems", SMALL), ("s3", "PutObject", LARGE), ("sqs", "SendMessage", SMALL)],
)
def test_write_whose_answer_was_lost_is_one_job(
    own: Witness, lossy: LossyPath, model: ModelServer, service: str, operation: str, prompt: str
) -> None:
    """The client's repeat finds its own effect: a create like any other, and a doubled message changes nothing."""
    lossy.lose_answers(operation, service=service)
    answer = ask(own, f"lost {operation}", prompt)

    assert (answer.status_code, "idempotent-replayed" in answer.headers) == (202, False), answer.text
    assert_one_job(own, answer.json()["job_id"])


def test_create_that_never_heard_of_its_write_is_found_by_the_retry(
    own: Witness, lossy: LossyPath, model: ModelServer
) -> None:
    """503, although it is stored: nobody was told 202. The retry replays that job and, in time, sends its message."""
    lossy.lose_answers("TransactWriteItems", times=SENDS)
    unheard = ask(own, "unheard")
    assert (unheard.status_code, unheard.json()["code"]) == (503, "store_unavailable")
    assert int(unheard.headers["retry-after"]) >= 1

    found = ask(own, "unheard")
    assert found.headers["idempotent-replayed"] == "true"
    job_id = found.json()["job_id"]
    until(lambda: ask(own, "unheard").json()["status"] != "queued" or None, "a replay has sent its message")
    assert_one_job(own, job_id)


def test_create_whose_writes_fail_stores_nothing(own: Witness, lossy: LossyPath, model: ModelServer) -> None:
    """503 and the truth: no row, no entry; the retry is the create."""
    before = own.account
    lossy.lose_requests("TransactWriteItems", times=SENDS)
    assert ask(own, "failed").status_code == httpx.codes.SERVICE_UNAVAILABLE
    assert own.account == before

    made = ask(own, "failed")
    assert (made.status_code, "idempotent-replayed" in made.headers) == (202, False)
    assert_one_job(own, made.json()["job_id"])


@pytest.mark.failure_mode("F43")
def test_lost_message_is_sent_by_the_sweeper(own: Witness, lossy: LossyPath, model: ModelServer) -> None:
    """202 all the same: the job is durable and due, whatever became of its message."""
    lossy.lose_requests("SendMessage", times=SENDS, service="sqs")
    answer = ask(own, "unsent")
    assert (answer.status_code, answer.json()["status"]) == (202, "queued")

    until(lambda: own.stack.sweep().get("wake"), "the sweeper has woken it")
    assert_one_job(own, answer.json()["job_id"])
