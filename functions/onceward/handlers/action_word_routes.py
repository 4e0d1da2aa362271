"""The routes of what a person says about an agent's action: approve it before it is sent, reset it after it failed."""

from __future__ import annotations

from typing import Annotated

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.openapi.params import Body, Path

from onceward.domain.job import Job
from onceward.handlers import routes
from onceward.handlers.action_routes import ACCEPTED, OK, identity_of_operation, operation_of, reply
from onceward.handlers.action_views import action_answer, ask_again
from onceward.handlers.answers import admitted_of
from onceward.handlers.api_document import operation
from onceward.handlers.world import World
from onceward.usecases.approve_action import approve_action
from onceward.usecases.reset_action import reset_action
from onceward.wire.action_views import ActionAnswer
from onceward.wire.requests import ApproveAction, ResetAction


class ActionWordRoutes:
    """What operators say about the actions of one API."""

    def __init__(self, app: APIGatewayHttpResolver, world: World) -> None:
        """Register the routes."""
        self._app = app
        self._world = world
        answers = {200: ActionAnswer, 202: ActionAnswer}
        approve = operation("approve_action", "Approve exactly these arguments", answers, routes.APPROVE_ACTION)
        app.post(routes.APPROVE, **approve)(self.approve)
        reset = operation("reset_action", "Run a failed operation again", answers, routes.RESET_ACTION)
        app.post(routes.RESET, **reset)(self.reset)

    def approve(
        self,
        operation_id: Annotated[str, Path()],  # noqa: ARG002 - read from the path itself, whatever it holds
        body: Annotated[ApproveAction, Body()],
    ) -> Response[str]:
        """Let it be sent; asking again changes nothing."""
        admitted = admitted_of(self._app)
        operation_of(self._world, admitted)
        identity = identity_of_operation(admitted, admitted.operation_id or "")
        caller = admitted.principal
        story = approve_action(
            self._world.intake,
            caller.tenant_id,
            identity,
            fingerprint=body.fingerprint,
            by=caller.subject,
            why=body.why,
            epoch=body.epoch,
        )
        return self._answer(self._world.run(story))

    def reset(
        self,
        operation_id: Annotated[str, Path()],  # noqa: ARG002 - read from the path itself, whatever it holds
        body: Annotated[ResetAction, Body()],
    ) -> Response[str]:
        """Open the next epoch; asking again changes nothing."""
        admitted = admitted_of(self._app)
        operation_of(self._world, admitted)
        identity = identity_of_operation(admitted, admitted.operation_id or "")
        caller = admitted.principal
        story = reset_action(
            self._world.intake, caller.tenant_id, identity, epoch=body.epoch, by=caller.subject, why=body.why
        )
        return self._answer(self._world.run(story))

    def _answer(self, job: Job) -> Response[str]:
        """The operation as it stands after it."""
        soon = ask_again(job, self._world.intake.clock.now())
        told = action_answer(job, admitted_of(self._app).operation_id, None)
        return reply(OK if soon is None else ACCEPTED, told, {}, soon)
