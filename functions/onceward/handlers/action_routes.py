"""The routes of agents' actions: perform, read, list by run, and what a person may say (approve, reset).

Repeating a request is always safe: the operation's id is the key, and the key's row is the one record of it.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated
from urllib.parse import quote

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.openapi.params import Body, Header, Path, Query

from onceward.domain.action_records import Seen
from onceward.domain.job import Job
from onceward.domain.names import Identity
from onceward.domain.tracing import new_traceparent, trace_id_of
from onceward.errors import Forbidden, KeyDisagrees, KeyReused, MalformedKey, MissingKey, OperationInProgress
from onceward.handlers import routes
from onceward.handlers.action_views import action_answer, action_view, ask_again, time_taken
from onceward.handlers.admission import Admitted
from onceward.handlers.answers import admitted_of, answer
from onceward.handlers.api_document import operation
from onceward.handlers.idempotency import submit_once
from onceward.handlers.patience import MAX_WAIT_SECONDS, Patience, asked_wait
from onceward.handlers.world import World
from onceward.usecases.note_attempt import Transport, note_attempt
from onceward.usecases.read_action import action_name, await_action, find_action_job, list_run, read_action
from onceward.usecases.submit_job import Kept, Submission
from onceward.wire.action_views import ActionAnswer, ActionList, ActionView
from onceward.wire.canonical import action_fingerprint, job_identity
from onceward.wire.cursor import MAX_CURSOR, from_cursor, to_cursor
from onceward.wire.idempotency_key import HEADER, read_key
from onceward.wire.requests import OPERATION_ID, RUN_ID, PerformAction

OK, ACCEPTED = 200, 202
DEFAULT_LIMIT, MOST = 20, 100


class ActionRoutes:
    """The actions of one API, as agents use them."""

    def __init__(self, app: APIGatewayHttpResolver, world: World) -> None:
        """Register the routes."""
        self._app = app
        self._world = world
        answers = {200: ActionAnswer, 202: ActionAnswer}
        perform = operation("perform_action", "Let an agent act, once", answers, routes.PERFORM_ACTION)
        app.post(routes.ACTIONS, **perform)(self.perform)
        listed = operation("list_actions", "List a run's operations", {200: ActionList}, routes.LIST_ACTIONS)
        app.get(routes.ACTIONS, **listed)(self.list)
        read = operation("get_action", "Read an operation", {200: ActionView}, routes.READ_ACTION)
        app.get(routes.ACTION, **read)(self.read)

    def perform(
        self,
        body: Annotated[PerformAction, Body()],
        _key: Annotated[
            str | None, Header(alias="Idempotency-Key", description="Where there is no operation_id, or the same.")
        ] = None,
    ) -> Response[str]:
        """Do it once: a repeat is answered from the record, another payload under the same key is a conflict."""
        admitted = admitted_of(self._app)
        operation_id = _operation_id(admitted, body)
        if not admitted.principal.may_act(body.action):
            raise Forbidden(f"the token lacks the scope actions:{body.action}")
        wish = self._wish(admitted, body, operation_id)
        told = Transport(
            by=admitted.principal.subject,
            attempt=body.attempt,
            run_id=body.run_id,
            tool_call_id=body.tool_call_id,
        )
        kept = self._kept(wish, told)
        admitted.notes["is_replay"] = not kept.is_new
        admitted.notes["job_id"] = kept.job.job_id
        admitted.notes["trace_id"] = trace_id_of(admitted.traceparent or kept.job.traceparent) or ""
        return self._answer(kept, operation_id, admitted)

    def list(
        self,
        run_id: Annotated[str, Query(pattern=RUN_ID, description="The run whose operations are asked for.")],
        limit: Annotated[int, Query(ge=1, le=MOST, description="Operations in a page at most.")] = DEFAULT_LIMIT,
        cursor: Annotated[
            str | None, Query(max_length=MAX_CURSOR, description="``next_cursor`` of the page before, same run.")
        ] = None,
    ) -> Response[str]:
        """One page of what the caller may see of a run."""
        caller, intake = admitted_of(self._app).principal, self._world.intake
        belongs_to = ["agent-actions", caller.tenant_id, run_id]
        start = None if cursor is None else from_cursor(cursor, belongs_to)
        page = self._world.run(
            list_run(intake.store, intake.blob, intake.clock, caller.tenant_id, run_id, start, limit)
        )
        seen = [(job, name) for job, name in page.operations if caller.may_see(action_name(job))]
        following = None if page.next_start is None else to_cursor(page.next_start, belongs_to)
        listed = ActionList(
            operations=tuple(action_answer(job, name, None) for job, name in seen), next_cursor=following
        )
        return answer(OK, listed)

    def read(
        self,
        operation_id: Annotated[str, Path()],  # noqa: ARG002 - read from the path itself, whatever it holds
        wait: Annotated[
            float | None,
            Query(ge=0, le=MAX_WAIT_SECONDS, description="Seconds to wait for its end; ``Prefer: wait=`` too."),
        ] = None,
    ) -> Response[str]:
        """Everything about one operation, each transport attempt included."""
        admitted, intake = admitted_of(self._app), self._world.intake
        job = operation_of(self._world, admitted)
        asked = self._patience(admitted, wait)
        reading = self._world.run(
            read_action(intake.store, intake.blob, intake.clock, job, timedelta(seconds=asked.seconds))
        )
        soon = ask_again(reading.reading.job, intake.clock.now())
        return reply(OK, action_view(reading), asked.headers, soon)

    def _wish(self, admitted: Admitted, body: PerformAction, operation_id: str) -> Submission:
        """The action as a job; raises ``UnknownAction``."""
        action = self._world.intake.registry.find_action(body.action)
        caller = admitted.principal
        return Submission(
            tenant_id=caller.tenant_id,
            identity=identity_of_operation(admitted, operation_id),
            fingerprint=action_fingerprint(body.action, body.arguments),
            kind=action.kind,
            input=body.arguments,
            created_by=caller.subject,
            traceparent=admitted.traceparent or new_traceparent(self._world.intake.ids.token()),
            operation_id=operation_id,
        )

    def _kept(self, wish: Submission, told: Transport) -> Kept:
        """Submit, and keep on the record what this attempt came to, also where it is refused."""
        intake = self._world.intake
        try:
            kept = submit_once(intake, wish, self._world.run, self._app.lambda_context)
        except KeyReused:
            job = self._world.run(find_action_job(intake.store, intake.clock, wish.tenant_id, wish.identity))
            self._note(job, told, Seen.REFUSED)
            raise
        self._note(kept.job, told, Seen.CREATED if kept.is_new else Seen.REPLAYED)
        return kept

    def _note(self, job: Job, told: Transport, came_to: Seen) -> None:
        """Put this attempt on the record."""
        intake = self._world.intake
        self._world.run(note_attempt(intake.store, intake.clock, intake.ids, job, told, came_to))

    def _answer(self, kept: Kept, operation_id: str, admitted: Admitted) -> Response[str]:
        """The stored answer, at once or if it comes in time; else where it stands."""
        intake, asked = self._world.intake, self._patience(admitted, None)
        wait = timedelta(seconds=asked.seconds)
        reading = self._world.run(await_action(intake.store, intake.blob, intake.clock, kept.job, wait))
        job, now = reading.job, intake.clock.now()
        soon = ask_again(job, now)
        if soon is not None and not kept.is_new and not asked.headers:
            raise OperationInProgress(f"the operation is {job.state}", retry_after=time_taken(job, now))
        extra = {**asked.headers, **({} if kept.is_new else {"Idempotent-Replayed": "true"})}
        if soon is not None:
            extra["Location"] = f"{routes.ACTIONS}/{quote(operation_id, safe='')}"
        told = action_answer(job, operation_id, reading.result)
        return reply(OK if soon is None else ACCEPTED, told, extra, soon)

    def _patience(self, admitted: Admitted, query: float | None) -> Patience:
        """How long this request may wait."""
        return asked_wait(query, admitted.event, self._app.lambda_context.get_remaining_time_in_millis())


def identity_of_operation(admitted: Admitted, operation_id: str) -> Identity:
    """The name of the row that an operation of this tenant has."""
    return job_identity(admitted.principal.tenant_id, routes.PERFORM_ACTION.name, operation_id)


def operation_of(world: World, admitted: Admitted) -> Job:
    """The row of the operation that the path names, if the caller may see it; raises ``OperationNotFound``."""
    intake, caller = world.intake, admitted.principal
    identity = identity_of_operation(admitted, admitted.operation_id or "")  # no operation has the empty name
    job: Job = world.run(find_action_job(intake.store, intake.clock, caller.tenant_id, identity, caller.may_see))
    admitted.notes["job_id"] = job.job_id
    return job


def reply(status: int, body: ActionAnswer, extra: dict[str, str], soon: int | None) -> Response[str]:
    """An operation's answer, with the seconds after which it is worth asking again."""
    later = {} if soon is None else {"Retry-After": str(soon)}
    return answer(status, body, {**extra, **later})


def _operation_id(admitted: Admitted, body: PerformAction) -> str:
    """The intention's name: the header's, the body's, or both if they agree; raises ``MissingKey`` for neither."""
    header = admitted.event["headers"].get(HEADER)
    key = None if header is None else read_key(header)
    if key is not None and body.operation_id is not None and key != body.operation_id:
        raise KeyDisagrees("Idempotency-Key and operation_id name two intentions")
    found = body.operation_id or key
    if found is None:
        raise MissingKey("send an operation_id or an Idempotency-Key: the same for each retry of one intention")
    if not re.fullmatch(OPERATION_ID, found):
        raise MalformedKey("the key cannot be an operation's id: its characters are those of one path segment")
    return found
