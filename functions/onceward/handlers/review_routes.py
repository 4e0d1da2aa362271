"""The routes of operators within their tenant: reviews, and verdicts on them. A job's history stands beside them."""

from __future__ import annotations

from typing import Annotated

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.openapi.params import Body, Path, Query
from pydantic import BaseModel

from onceward.domain.states import JobState, Resolution
from onceward.handlers import routes
from onceward.handlers.answers import admitted_of, answer
from onceward.handlers.api_document import operation
from onceward.handlers.review_views import history_view, record_view, review_view
from onceward.handlers.world import World
from onceward.usecases.list_jobs import Wanted, list_jobs
from onceward.usecases.read_history import read_history
from onceward.usecases.read_review import ReviewReading, read_review
from onceward.usecases.resolve_job import Verdict, resolve_job
from onceward.wire.cursor import MAX_CURSOR, from_cursor, to_cursor
from onceward.wire.history import JobHistory
from onceward.wire.reviews import ResolveReview, ReviewList, ReviewResolved, ReviewView

DEFAULT_LIMIT, MOST = 20, 100


class ReviewRoutes:
    """The reviews of one API, and the history of its jobs."""

    def __init__(self, app: APIGatewayHttpResolver, world: World) -> None:
        """Register the routes."""
        self._app = app
        self._world = world
        told = operation("get_history", "Read every attempt of a job", {200: JobHistory}, routes.READ_HISTORY)
        app.get(routes.HISTORY, **told)(self.history)
        told = operation("list_reviews", "List your jobs in review", {200: ReviewList}, routes.LIST_REVIEWS)
        app.get(routes.REVIEWS, **told)(self.list)
        told = operation("get_review", "Read a review and its record", {200: ReviewView}, routes.READ_REVIEW)
        app.get(routes.REVIEW, **told)(self.read)
        told = operation("resolve_review", "Decide a review", {200: ReviewResolved}, routes.RESOLVE_REVIEW)
        app.post(routes.RESOLVE, **told)(self.resolve)

    def history(self, job_id: Annotated[str, Path()]) -> Response[str]:
        """Every attempt of every epoch, with its calls; answers that came late included."""
        ports, tenant_id = self._world.intake, admitted_of(self._app).principal.tenant_id
        history = self._world.run(read_history(ports.store, ports.clock, tenant_id=tenant_id, job_id=job_id))
        return self._answer(history_view(history), history.job.job_id)

    def list(
        self,
        limit: Annotated[int, Query(ge=1, le=MOST, description="Reviews in a page at most.")] = DEFAULT_LIMIT,
        cursor: Annotated[
            str | None, Query(max_length=MAX_CURSOR, description="``next_cursor`` of the page before.")
        ] = None,
    ) -> Response[str]:
        """One page; a review that a run looks at in this moment is not in it."""
        ports, tenant_id = self._world.intake, admitted_of(self._app).principal.tenant_id
        belongs_to = ["reviews", tenant_id]
        start = None if cursor is None else from_cursor(cursor, belongs_to)
        wanted = Wanted(state=JobState.NEEDS_REVIEW, limit=limit, start=start)
        listing = self._world.run(list_jobs(ports.store, ports.clock, tenant_id=tenant_id, wanted=wanted))
        if listing.unreadable:
            admitted_of(self._app).notes["unreadable_rows"] = str(listing.unreadable)
        following = None if listing.next_start is None else to_cursor(listing.next_start, belongs_to)
        reviews = tuple(review_view(ReviewReading(job)) for job in listing.jobs)
        return self._answer(ReviewList(reviews=reviews, next_cursor=following))

    def read(self, job_id: Annotated[str, Path()]) -> Response[str]:
        """What there is to decide, and what was decided; also of a job that is not in review any more."""
        ports, tenant_id = self._world.intake, admitted_of(self._app).principal.tenant_id
        reading = self._world.run(read_review(ports.store, ports.blob, ports.clock, tenant_id=tenant_id, job_id=job_id))
        return self._answer(review_view(reading), reading.job.job_id)

    def resolve(self, job_id: Annotated[str, Path()], body: Annotated[ResolveReview, Body()]) -> Response[str]:
        """Take a verdict, once: the same one again is answered the same, another one is refused."""
        caller = admitted_of(self._app).principal
        verdict = Verdict(
            tenant_id=caller.tenant_id,
            job_id=job_id,
            resolution=Resolution(body.verdict),
            epoch=body.epoch,
            by=caller.subject,
            why=body.why,
            result=body.result,
            may_pay_twice=body.may_pay_twice,
        )
        done = self._world.run(resolve_job(self._world.intake, verdict))
        admitted_of(self._app).notes["verdict"] = str(verdict.resolution)
        view = review_view(ReviewReading(done.job, (done.record,)))
        told = ReviewResolved(review=view, record=record_view(done.record), is_replay=done.is_replay)
        return self._answer(told, done.job.job_id)

    def _answer(self, body: BaseModel, job_id: str | None = None) -> Response[str]:
        """An answer, and whose it is, for the log."""
        if job_id is not None:
            admitted_of(self._app).notes["job_id"] = job_id
        return answer(200, body)
