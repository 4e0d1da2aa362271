"""No tenant learns or changes anything of another's, over every operation that the API's own description has.

The description makes the matrix, so a new route joins by itself; one whose path names something that the owner here
does not have fails until it is given one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.core.result import Ok

from onceward.wire.scopes import Scope
from tests.support.action_world import OPERATION, ActionWorld
from tests.support.api_world import Reply, an_event, ask, claims_of, create

DESCRIBED = json.loads((Path(__file__).parents[2] / "docs" / "openapi.json").read_text(encoding="utf-8"))
FOUND = schemathesis.openapi.from_dict(DESCRIBED).get_all_operations()
OPERATIONS = [found.ok() for found in FOUND if isinstance(found, Ok)]
OF_ONE = [one for one in OPERATIONS if "{" in one.path]
OF_ALL = [one for one in OPERATIONS if "{" not in one.path]
STRANGER = claims_of("globex", " ".join([*Scope, "actions:create_task"]))
PROMPT, RUN, KEY = "The owner's own words.", "run-of-the-owner", "the-owner-s-key"
A_FEW = settings(
    max_examples=5,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


class Owned:
    """What the owner has: a job and an operation; ``ids`` by the names of the description's path parameters."""

    def __init__(self) -> None:
        self.world = ActionWorld()
        body = json.dumps({"kind": "text.generate", "input": {"prompt": PROMPT}})
        job_id = create(self.world.api, body=body, key=KEY).json["job_id"]
        self.world.post(run_id=RUN)
        self.ids = {"job_id": job_id, "operation_id": OPERATION}
        self.absent = {"job_id": job_id[::-1], "operation_id": OPERATION[::-1]}
        self.secrets = [
            job_id,
            OPERATION,
            PROMPT,
            RUN,
            KEY,
            *(row.job_id for row in self.world.world.store.rows.values()),
        ]

    def stored(self) -> Any:
        """All that is stored of the owner."""
        store = self.world.world.store
        rows = {place: row for place, row in store.rows.items() if row.tenant_id == "acme"}
        return rows, {place: dict(items) for place, items in store.items.items() if place[0] == "acme"}

    def ask(self, case: Any, ids: dict[str, str]) -> Reply:
        """Ask what was made up, as the stranger, about the thing of these ids."""
        path = case.operation.path
        for name in case.path_parameters or {}:
            path = path.replace(f"{{{name}}}", quote(ids[name], safe=""))
        made = case.as_transport_kwargs(base_url="http://api")
        headers = {name.lower(): str(value) for name, value in made["headers"].items()}
        body = json.dumps(made["json"]) if made.get("json") is not None else None
        query = urlencode(made.get("params") or {}, doseq=True)
        method = case.operation.method.upper()
        event = an_event(method, path, body=body, headers=headers, query=query, claims=STRANGER)
        return ask(self.world.api, event)


def cases(operation: Any) -> Any:
    """Requests that fit the description."""
    return operation.as_strategy(generation_mode=GenerationMode.POSITIVE)


@pytest.fixture(scope="module")
def owned() -> Owned:
    """One owner for all; whatever a stranger does leaves it as it is."""
    return Owned()


@pytest.mark.invariant(9)
@pytest.mark.failure_mode("F81")
@pytest.mark.parametrize("operation", OF_ONE, ids=lambda operation: operation.label)
def test_what_is_another_tenants_answers_as_what_is_not_there(owned: Owned, operation: Any) -> None:
    """The very same answer for the owner's id as for one that nobody has; and nothing of the owner's has changed."""
    before, seen = owned.stored(), set()

    @A_FEW
    @given(case=cases(operation))
    def check(case: Any) -> None:
        foreign, absent = owned.ask(case, owned.ids), owned.ask(case, owned.absent)
        assert foreign == absent
        seen.add(foreign.status)

    check()
    assert 404 in seen
    assert seen <= {404, 422}  # a body that cannot be taken is refused before anything is looked for
    assert owned.stored() == before


@pytest.mark.invariant(9)
@pytest.mark.parametrize("operation", OF_ALL, ids=lambda operation: operation.label)
def test_what_names_nothing_tells_nothing_of_another_tenant(owned: Owned, operation: Any) -> None:
    """Lists, creates and the account: not an id, a word or a key of the owner's, and nothing of it has changed."""
    before = owned.stored()

    @A_FEW
    @given(case=cases(operation))
    def check(case: Any) -> None:
        told = owned.ask(case, {})
        assert [secret for secret in owned.secrets if secret in told.text] == []

    check()
    assert owned.stored() == before


def test_the_whole_description_is_tried() -> None:
    """Nothing of it was left out as unreadable, and the owner would see what a stranger does not."""
    own = Owned()
    event = an_event("GET", f"/api/ai/jobs/{own.ids['job_id']}", claims=claims_of())

    assert len(OPERATIONS) == sum(len(operations) for operations in DESCRIBED["paths"].values())
    assert own.ids["job_id"] in ask(own.world.api, event).text
