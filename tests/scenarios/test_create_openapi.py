"""The deployed API against its own description: whatever is sent, no 5xx, and every answer is one that it describes."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.scenarios.customers import quiet_afterwards
from tests.scenarios.stack import DeployedStack

pytestmark = pytest.mark.thorough

__all__ = ["quiet_afterwards"]

DESCRIBED = json.loads((Path(__file__).parents[2] / "docs" / "openapi.json").read_text(encoding="utf-8"))
FOUND = schemathesis.openapi.from_dict(DESCRIBED).get_all_operations()
OPERATIONS = [found.ok() for found in FOUND if isinstance(found, Ok)]
OF_A_JOB = [one for one in OPERATIONS if one.path.startswith("/api/ai/jobs") and one.label != "GET /api/ai/jobs"]
EXAMPLES = 12  # of each operation and mode; a request takes a tenth of a second, and all of this half a minute
_numbers = itertools.count()
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
BOUNDED = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def send(stack: DeployedStack, case: Any) -> httpx.Response:
    """Send what was made up, as a tenant that is allowed to."""
    made = case.as_transport_kwargs(base_url=str(stack.http.base_url).rstrip("/"))
    headers = {name.lower(): str(value).encode("utf-8", "replace") for name, value in made["headers"].items()}
    who = "operator" if "ops" in str(case.operation.definition.raw.get("security")) else "acme"
    headers |= {name: value.encode() for name, value in stack.headers(who).items()}
    body = {"json": made["json"]} if made.get("json") is not None else {"content": made.get("data")}
    answer = stack.http.request(made["method"], made["url"], params=made.get("params"), headers=headers, **body)
    if answer.status_code == httpx.codes.NO_CONTENT:
        answer.headers.pop("content-type", None)  # the local gateway says one where our answer has none
    return answer


def tried(operation: Any, case_of: Any, answer_to: Callable[[Any], httpx.Response]) -> set[int]:
    """Send what is made up and hold each answer to the description; the statuses that were seen."""
    seen = set()

    @BOUNDED
    @given(case=case_of)
    def check(case: Any) -> None:
        answer = answer_to(case)
        seen.add(answer.status_code)
        case.validate_response(answer, checks=CHECKS)

    check()
    return seen


@pytest.mark.parametrize(
    ("operation", "mode"),
    [
        pytest.param(operation, mode, id=f"{operation.label} {mode.value}")
        for operation in OPERATIONS
        for mode in GenerationMode
        if operation.label != "GET /health" or mode is GenerationMode.POSITIVE  # nothing of it can be wrong
    ],
)
def test_every_answer_is_a_described_one(stack: DeployedStack, operation: Any, mode: GenerationMode) -> None:
    """Status, media type, headers and body, for requests that fit the description and for those that do not."""
    assert tried(operation, operation.as_strategy(generation_mode=mode), partial(send, stack))


@pytest.mark.parametrize("operation", OF_A_JOB, ids=lambda operation: operation.label)
def test_answers_about_a_job_that_is_there_are_described_too(stack: DeployedStack, operation: Any) -> None:
    """No made-up id names a job, and no made-up key or kind makes one: these are put in by hand."""
    job_id = stack.created("test.ask", {"prompt": "Described."}, key=f"described {operation.label}")
    stack.ended(job_id)

    def answer_to(case: Any) -> httpx.Response:
        if case.path_parameters:
            case.path_parameters["job_id"] = job_id
        else:
            case.body = {"kind": "test.ask", "input": {**case.body["input"], "prompt": "Described."}}
            case.headers["Idempotency-Key"] = f"described-{next(_numbers)}"
        return send(stack, case)

    seen = tried(operation, operation.as_strategy(generation_mode=GenerationMode.POSITIVE), answer_to)
    assert seen & {200, 202, 204}, seen


def test_whole_description_is_tried() -> None:
    """Nothing of it was left out as unreadable."""
    assert len(OPERATIONS) == sum(len(operations) for operations in DESCRIBED["paths"].values())
