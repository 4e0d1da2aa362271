"""GET /api/ai/jobs: pages, filters and cursors that belong to one list."""

from __future__ import annotations

import json
from typing import Any

import pytest

from onceward.domain.job import Job
from onceward.domain.names import Identity, TenantId
from onceward.handlers.api_app import Api
from onceward.wire.responses import JobList
from tests.support.api_world import ApiWorld, Reply, an_event, ask, claims_of, create


def listed(api: Api, query: str = "", tenant: str = "acme") -> Reply:
    """One page."""
    return ask(api, an_event("GET", "/api/ai/jobs", claims=claims_of(tenant), query=query))


def an_api(jobs: int = 3) -> tuple[Api, list[str]]:
    """An API with some jobs of acme, newest first, and one of globex."""
    world = ApiWorld()
    api = world.api()
    ids: list[str] = []
    for number in range(jobs):
        ids.insert(0, create(api, f"key-{number}").json["job_id"])
        world.clock.move(world.intake.timing.skew_allowance)
    create(api, tenant="globex")
    return api, ids


def test_pages_lead_to_each_other_and_end() -> None:
    """Newest first; the last page has no next cursor."""
    api, ids = an_api(5)
    seen, cursor = [], ""
    while True:
        page = JobList.model_validate_json(listed(api, f"limit=2{cursor}").text)
        seen += [job.job_id for job in page.jobs]
        if page.next_cursor is None:
            break
        cursor = f"&cursor={page.next_cursor}"

    assert seen == ids


def test_filters_narrow_the_list() -> None:
    """By state and by kind."""
    api, ids = an_api()
    ask(api, an_event("POST", f"/api/ai/jobs/{ids[1]}/cancel", claims=claims_of()))

    assert [job["job_id"] for job in listed(api, "status=cancelled").json["jobs"]] == [ids[1]]
    assert len(listed(api, "status=queued&kind=text.generate").json["jobs"]) == 2
    assert listed(api, "kind=no.such").json == {"jobs": [], "next_cursor": None}


def test_a_cursor_is_of_one_tenant_and_filter() -> None:
    """Taken elsewhere it is refused; the list it would have opened stays closed (invariant 9)."""
    api, _ = an_api()
    cursor = listed(api, "limit=1").json["next_cursor"]

    assert listed(api, f"limit=2&cursor={cursor}").status == 200
    for query, tenant in (("", "globex"), ("&status=queued", "acme"), ("&kind=text.generate", "acme")):
        reply = listed(api, f"cursor={cursor}{query}", tenant)
        assert (reply.status, reply.json["code"]) == (422, "invalid_input")
        assert reply.json["errors"][0]["pointer"] == "query.cursor"


def test_a_row_that_nobody_can_read_is_left_out_and_logged() -> None:
    """The tenant sees its other jobs, the operator that there is one to look at; nothing of the row is told."""
    world = ApiWorld()
    api = world.api()
    bad, good = (create(api, key).json["job_id"] for key in ("bad", "good"))

    class Damaged:
        """A store with one row of no code of ours."""

        def __getattr__(self, name: str) -> Any:
            return getattr(world.store, name)

        async def get_job(self, tenant_id: TenantId, identity: Identity) -> Job | None:
            """Refuse for one."""
            if bad.startswith(identity):
                raise ValueError("CANARY")
            return await world.store.get_job(tenant_id, identity)

    world.wrap_store = lambda _: Damaged()
    reply = listed(api)

    assert [job["job_id"] for job in reply.json["jobs"]] == [good]
    assert world.lines[-1]["unreadable_rows"] == "1"
    assert "CANARY" not in reply.text + json.dumps(world.lines)


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=101", "limit=x", "status=done", "kind=Text", "cursor=x", "cursor=%00", "cursor=" + "a" * 257],
)
def test_a_question_that_cannot_be_answered_is_refused(query: str) -> None:
    """422, with the parameter named."""
    api, _ = an_api(0)
    reply = listed(api, query)

    assert (reply.status, reply.json["code"]) == (422, "invalid_input")
    assert reply.json["errors"][0]["pointer"] == f"query.{query.partition('=')[0]}"
