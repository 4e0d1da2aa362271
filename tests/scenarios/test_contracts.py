"""Real PDFs go in, checked analyses come out: the sample that ships, and ten contracts with known content."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import pytest

from onceward.local.places import SAMPLE
from tests.scenarios.stack import DeployedStack
from tests.support.contracts import Recall, generate, measure_recall, misquoted, read_pages
from tests.support.model_server import ModelServer

SEEDS = range(10)
LEAST = 0.9  # of dates and sums; the others are stated


def analysed(stack: DeployedStack, pdf: bytes, key: str) -> dict[str, Any]:
    """Upload a document and have it analysed."""
    document_id = stack.upload(pdf)
    job_id = stack.created("document.analyze", {"document_id": document_id}, key=key)
    job = stack.ended(job_id)
    assert job["status"] == "succeeded", job
    result: dict[str, Any] = job["result"]
    return result


def test_sample_contract_is_analysed_once_and_its_quotes_are_there(stack: DeployedStack, model: ModelServer) -> None:
    """The contract that `make run` uses: an analysis with references, each on the page that it names."""
    pdf = SAMPLE.read_bytes()
    analysis = analysed(stack, pdf, "sample contract")

    assert misquoted(analysis, read_pages(pdf)) == []
    assert all(analysis[field] for field in ("title", "summary", "parties", "dates", "amounts", "obligations"))
    assert model.counts()["requests"] == 1


def test_ten_contracts_are_read_as_they_were_written(
    stack: DeployedStack, model: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """Names, dates and sums are known; recall by field is printed, and dates and sums reach 0.9."""
    measured: list[dict[str, Recall]] = []
    for seed in SEEDS:
        pdf, expected = generate(seed)
        analysis = analysed(stack, pdf, f"contract {seed}")
        assert misquoted(analysis, read_pages(pdf)) == []
        measured.append(measure_recall(analysis, expected))
    total = {field: reduce(add, (one[field] for one in measured)) for field in measured[0]}
    with capsys.disabled():
        print()
        for field, recall in total.items():
            print(f"  recall of {field}: {recall.found}/{recall.expected}")

    assert total["dates"].share >= LEAST, total["dates"].missed
    assert total["amounts"].share >= LEAST, total["amounts"].missed
    assert model.counts()["requests"] == len(SEEDS)
