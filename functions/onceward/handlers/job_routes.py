"""The routes of jobs: create, read, cancel, erase. Each is one story and the answer's shape.

Routes are synchronous because Powertools' idempotency is; the stories run on the environment's one loop.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.openapi.params import Body, Header, Path, Query
from pydantic import BaseModel

from onceward.domain.job import Job
from onceward.domain.names import JobId
from onceward.domain.tracing import new_traceparent, trace_id_of
from onceward.handlers import routes
from onceward.handlers.answers import admitted_of, answer
from onceward.handlers.api_document import operation
from onceward.handlers.idempotency import submit_once
from onceward.handlers.job_views import job_accepted, job_view, retry_after
from onceward.handlers.patience import MAX_WAIT_SECONDS, asked_wait
from onceward.handlers.world import World
from onceward.usecases.cancel_job import cancel_job
from onceward.usecases.erase_job import Eraser, erase_job
from onceward.usecases.read_job import read_job
from onceward.usecases.submit_job import Submission
from onceward.wire.canonical import fingerprint, job_identity
from onceward.wire.requests import CreateJob
from onceward.wire.responses import JobAccepted, JobView

OK, ACCEPTED = 200, 202


class JobRoutes:
    """The jobs of one API."""

    def __init__(self, app: APIGatewayHttpResolver, world: World) -> None:
        """Register the routes."""
        self._app = app
        self._world = world
        create = operation("create_job", "Create a job", {202: JobAccepted}, routes.CREATE_JOB)
        app.post(routes.JOBS, **create)(self.create)
        read = operation("get_job", "Read a job, at once or after a wait", {200: JobView}, routes.READ_JOB)
        app.get(routes.JOB, **read)(self.read)
        cancel = operation("cancel_job", "Cancel a job", {200: JobAccepted, 202: JobAccepted}, routes.CANCEL_JOB)
        app.post(routes.CANCEL, **cancel)(self.cancel)
        erase = operation("erase_job", "Erase what a job that has ended holds", {204: None}, routes.ERASE_JOB)
        app.delete(routes.JOB, **erase)(self.erase)

    def create(
        self,
        body: Annotated[CreateJob, Body()],
        _key: Annotated[
            str, Header(alias="Idempotency-Key", description="The same for each retry of one request; 1-255.")
        ],
    ) -> Response[str]:
        """Store the job, then answer; a retry with the same key and body answers the same job."""
        admitted = admitted_of(self._app)
        caller = admitted.principal
        traceparent = admitted.traceparent or new_traceparent(self._world.intake.ids.token())
        wish = Submission(
            tenant_id=caller.tenant_id,
            identity=job_identity(caller.tenant_id, admitted.route.name, admitted.key or ""),
            fingerprint=fingerprint(body.kind, body.input),
            kind=body.kind,
            input=body.input,
            created_by=caller.subject,
            traceparent=traceparent,
            coalesce=body.coalesce,
        )
        kept = submit_once(self._world.intake, wish, self._world.run, self._app.lambda_context)
        admitted.notes["is_replay"] = not kept.is_new
        admitted.notes["trace_id"] = trace_id_of(admitted.traceparent or kept.job.traceparent) or ""
        replayed = {} if kept.is_new else {"Idempotent-Replayed": "true"}
        return self._answer(ACCEPTED, kept.job, job_accepted(kept.job), replayed)

    def read(
        self,
        job_id: Annotated[str, Path()],
        wait: Annotated[
            float | None,
            Query(ge=0, le=MAX_WAIT_SECONDS, description="Seconds to wait for the job's end; ``Prefer: wait=`` too."),
        ] = None,
    ) -> Response[str]:
        """Everything the tenant may know of its job."""
        admitted = admitted_of(self._app)
        asked = asked_wait(wait, admitted.event, self._app.lambda_context.get_remaining_time_in_millis())
        intake = self._world.intake
        reading = self._world.run(
            read_job(
                intake.store,
                intake.blob,
                intake.clock,
                tenant_id=admitted.principal.tenant_id,
                job_id=job_id,
                wait=timedelta(seconds=asked.seconds),
            )
        )
        return self._answer(OK, reading.job, job_view(reading), asked.headers)

    def cancel(self, job_id: Annotated[str, Path()]) -> Response[str]:
        """Record the wish, or end the job at once; asking again changes nothing."""
        intake = self._world.intake
        job = self._world.run(
            cancel_job(
                intake.store,
                intake.queue,
                intake.clock,
                intake.ids,
                tenant_id=admitted_of(self._app).principal.tenant_id,
                job_id=JobId(job_id),
            )
        )
        return self._answer(OK if job.state.is_terminal else ACCEPTED, job, job_accepted(job), {})

    def erase(self, job_id: Annotated[str, Path()]) -> Response[str]:
        """Remove input, answers, result and own documents for good; asking again completes what broke off."""
        intake = self._world.intake
        ports = Eraser(store=intake.store, blob=intake.blob, clock=intake.clock, ids=intake.ids)
        admitted = admitted_of(self._app)
        admitted.notes["job_id"] = self._world.run(
            erase_job(ports, tenant_id=admitted.principal.tenant_id, job_id=job_id)
        ).job_id
        return Response(status_code=204, body="", headers={"Cache-Control": "no-store"})

    def _answer(self, status: int, job: Job, body: BaseModel, extra: dict[str, str]) -> Response[str]:
        """A job's answer, with where to ask and how soon."""
        headers = dict(extra)
        if status == ACCEPTED:
            headers["Location"] = f"{routes.JOBS}/{job.job_id}"
        seconds = retry_after(job, self._world.intake.clock.now())
        if seconds is not None:
            headers["Retry-After"] = str(seconds)
        admitted_of(self._app).notes["job_id"] = job.job_id
        return answer(status, body, headers)
