"""Services that do not answer for a while: the model's key that nobody can read or decrypt, and the bucket.

API and worker are told to ask AWS by way of microburst, a proxy that lets nothing through to a service. The witnesses
are the model's own count, the tenant's books, and the proxy's count of what it stopped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import httpx
import pytest

from onceward.domain.job import Job
from onceward.domain.money import Cost
from onceward.domain.names import TenantId
from onceward.domain.states import JobState
from tests.scenarios.customers import quiet_afterwards, with_tenants
from tests.scenarios.stack import DeployedStack, until
from tests.scenarios.witness import Witness, assert_books_agree
from tests.scenarios.worker_processes import holder_of, kill, workers
from tests.scenarios.worker_settings import told
from tests.support.deployed.terms import TARIFF
from tests.support.lossy import LossyPath, lossy_path
from tests.support.model_server import ModelServer

__all__ = ["quiet_afterwards"]

pytestmark = [pytest.mark.thorough, pytest.mark.failure_mode("F83")]

TENANT = TenantId("outage")
KIND = "test.ask"
LARGE = "Where is all of it kept? " * 300  # more than an item takes at create
READS = 5  # requests that meet the outage before anybody looks; a delivery makes three at most, so there were two
SILENT: Mapping[str, object] = {"operation": "GetSecretValue"}
UNDECRYPTED: Mapping[str, object] = {**SILENT, "error": {"code": "DecryptionFailure", "status": 400}}


@pytest.fixture(scope="module")
def own(stack: DeployedStack) -> Witness:
    """A tenant with money for these jobs."""
    witness = Witness(stack=with_tenants(stack, TENANT), tenant=TENANT)
    witness.open_account(100 * TARIFF)
    return witness


@pytest.fixture(scope="module")
def path(own: Witness, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LossyPath]:
    """The proxy, with API and worker behind it until the module's end."""
    with (
        lossy_path(own.stack.cloud, tmp_path_factory.mktemp("outage")) as path,
        told(own, AWS_ENDPOINT_URL=path.url),
        told(own, function="ApiFunction", AWS_ENDPOINT_URL=path.url),
    ):
        yield path


def cold(own: Witness) -> None:
    """Leave no process of the worker that could have kept a key."""
    own.quiet()
    for pid in workers(own.stack):
        kill(pid)


def given_back(own: Witness, path: LossyPath, job_id: str) -> Job:
    """The job, between two deliveries that the outage stopped."""
    until(lambda: path.refused() >= READS or None, "the outage has been met")
    return own.when(job_id, lambda job: job.state is not JobState.RUNNING, "it is given back")


def assert_nothing_happened(own: Witness, job: Job) -> None:
    """No attempt, no call, no cost; what the create reserved is held, and nothing else was written into the book."""
    assert (job.state, job.attempts, job.lost, job.open, job.spent) == (JobState.QUEUED, 0, 0, (), Cost.nothing())
    assert own.calls(job.job_id).requests == 0
    assert own.entries(job.job_id) == ["reserve"]
    assert own.account.reserved == TARIFF
    assert_books_agree(own.account)


def assert_done_once(own: Witness, job_id: str) -> None:
    """One attempt, one call, one charge."""
    job = own.at_rest(job_id)
    assert (job.state, job.attempts) == (JobState.SUCCEEDED, 1)
    assert own.calls(job_id).requests == 1
    assert own.entries(job_id) == ["capture", "reserve"]
    assert own.account.reserved == 0
    assert_books_agree(own.account)


@pytest.mark.parametrize("how", [SILENT, UNDECRYPTED], ids=["no answer", "KMS does not decrypt"])
def test_cold_worker_without_the_key_sends_nothing_and_waits(
    own: Witness, path: LossyPath, model: ModelServer, how: Mapping[str, object]
) -> None:
    """However often it is delivered meanwhile; once the key can be read, it is a job like any other."""
    cold(own)
    with path.outage("secretsmanager", **how):
        job_id = own.created(KIND, "Who has the key?")
        assert_nothing_happened(own, given_back(own, path, job_id))

    assert_done_once(own, job_id)


def test_warm_worker_goes_on_with_the_key_that_it_has(own: Witness, path: LossyPath, model: ModelServer) -> None:
    """The same process does the next job while the key cannot be read, and does not even ask."""
    before = own.created(KIND, "Is the key read?")
    assert_done_once(own, before)
    with path.outage("secretsmanager"):
        during = own.created(KIND, "Is it still known?")
        assert_done_once(own, during)

    assert holder_of(own.stack, during) == holder_of(own.stack, before)
    assert path.refused() == 0


def test_worker_that_cannot_read_the_input_sends_nothing_and_waits(
    own: Witness, path: LossyPath, model: ModelServer
) -> None:
    """The bucket takes the input and does not give it back for a while."""
    with path.outage("s3", operation="GetObject"):
        job_id = own.created(KIND, LARGE)
        assert_nothing_happened(own, given_back(own, path, job_id))

    assert_done_once(own, job_id)


def test_create_whose_input_cannot_be_stored_is_refused_and_others_go_on(
    own: Witness, path: LossyPath, model: ModelServer
) -> None:
    """503 without a row or a reservation for what needs the bucket; what does not is done. The retry is the create."""
    before = own.account
    with path.outage("s3"):
        refused = own.stack.create(KIND, {"prompt": LARGE}, key="large", tenant=TENANT)
        assert (refused.status_code, refused.json()["code"]) == (httpx.codes.SERVICE_UNAVAILABLE, "blob_unavailable")
        assert int(refused.headers["retry-after"]) >= 1
        assert own.account == before
        assert_done_once(own, own.created(KIND, "Does it fit?"))

    made = own.stack.create(KIND, {"prompt": LARGE}, key="large", tenant=TENANT)
    assert (made.status_code, "idempotent-replayed" in made.headers) == (httpx.codes.ACCEPTED, False)
    assert_done_once(own, made.json()["job_id"])
