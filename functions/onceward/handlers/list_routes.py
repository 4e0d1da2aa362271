"""The route of a tenant's list of jobs."""

from __future__ import annotations

from typing import Annotated

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from onceward.domain.names import KIND, KIND_LENGTH
from onceward.domain.states import JobState
from onceward.handlers import routes
from onceward.handlers.answers import admitted_of, answer
from onceward.handlers.api_document import operation
from onceward.handlers.job_views import job_accepted
from onceward.handlers.world import World
from onceward.usecases.list_jobs import Wanted, list_jobs
from onceward.wire.cursor import MAX_CURSOR, from_cursor, to_cursor
from onceward.wire.responses import JobList

DEFAULT_LIMIT, MOST = 20, 100


class ListRoutes:
    """The lists of one API."""

    def __init__(self, app: APIGatewayHttpResolver, world: World) -> None:
        """Register the route."""
        self._app = app
        self._world = world
        told = operation("list_jobs", "List your jobs, newest first", {200: JobList}, routes.LIST_JOBS)
        app.get(routes.JOBS, **told)(self.list)

    def list(
        self,
        status: Annotated[JobState | None, Query(description="Only jobs in this state.")] = None,
        kind: Annotated[
            str | None, Query(pattern=KIND, max_length=KIND_LENGTH, description="Only jobs of this kind.")
        ] = None,
        limit: Annotated[int, Query(ge=1, le=MOST, description="Jobs in a page at most.")] = DEFAULT_LIMIT,
        cursor: Annotated[
            str | None, Query(max_length=MAX_CURSOR, description="``next_cursor`` of the page before, same filter.")
        ] = None,
    ) -> Response[str]:
        """One page; a cursor holds for the tenant and the filter that it was given out for."""
        tenant_id = admitted_of(self._app).principal.tenant_id
        belongs_to = ["jobs", tenant_id, None if status is None else str(status), kind]
        start = None if cursor is None else from_cursor(cursor, belongs_to)
        wanted = Wanted(state=status, kind=kind, limit=limit, start=start)
        intake = self._world.intake
        listing = self._world.run(list_jobs(intake.store, intake.clock, tenant_id=tenant_id, wanted=wanted))
        if listing.unreadable:
            admitted_of(self._app).notes["unreadable_rows"] = str(listing.unreadable)
        following = None if listing.next_start is None else to_cursor(listing.next_start, belongs_to)
        page = JobList(jobs=tuple(job_accepted(job) for job in listing.jobs), next_cursor=following)
        return answer(200, page)
