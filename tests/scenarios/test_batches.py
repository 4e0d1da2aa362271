"""Jobs of one batch do not harm each other, and nothing of an invocation is left when it has returned."""

from __future__ import annotations

from uuid import uuid4

import pytest

from onceward.domain.states import JobState
from onceward.local.places import SAMPLE
from tests.scenarios.stack import until
from tests.scenarios.witness import Witness
from tests.scenarios.worker_processes import children_of, holder_of, threads_of
from tests.support.documents.pdfs import bloated
from tests.support.model_server import ModelServer

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(900)]  # many processes start, on however busy a machine

GOOD_DOCUMENTS, GOOD_TEXTS = 3, 6
BOMB_MB = 600  # unpacked; the child may take 384
BOMB_CODES = {"unreadable", "extraction_memory", "extraction_timeout"}  # whichever limit strikes first


def test_document_bomb_beside_nine_good_jobs_harms_nobody(witness: Witness, model: ModelServer) -> None:
    """Ten jobs of one batch: the bomb fails by its own code, nine succeed, and neither child nor thread is left."""
    stack, tenant = witness.stack, witness.tenant
    bomb = stack.upload(bloated(BOMB_MB), tenant=tenant)
    documents = [bomb, *(stack.upload(SAMPLE.read_bytes(), tenant=tenant) for _ in range(GOOD_DOCUMENTS))]
    with stack.queue_closed():
        ids = [
            stack.created("document.analyze", {"document_id": document}, key=str(uuid4()), tenant=tenant)
            for document in documents
        ]
        ids += [witness.created("text.generate", f"Sentence number {number}.") for number in range(GOOD_TEXTS)]
        until(lambda: witness.visible() >= len(ids) or None, "all messages can be delivered in one batch")
    ended = [witness.at_rest(job_id) for job_id in ids]
    witness.quiet()
    (pid,) = {holder_of(stack, job_id) for job_id in ids}

    assert ended[0].state is JobState.FAILED
    assert ended[0].error_code in BOMB_CODES
    assert [job.state for job in ended[1:]] == [JobState.SUCCEEDED] * (GOOD_DOCUMENTS + GOOD_TEXTS)
    assert {job.attempts for job in ended} == {1}
    assert model.counts()["requests"] == GOOD_DOCUMENTS + GOOD_TEXTS
    assert children_of(pid) == []
    assert threads_of(pid) == 1
