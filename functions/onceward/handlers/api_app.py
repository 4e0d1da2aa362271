"""The HTTP API of one execution environment: let a request in, run its route, answer every error in one shape.

What is logged: ids, the route's template, the status. Never a path, a header, a body or an exception's text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.utilities.typing import LambdaContext

from onceward.domain.tracing import trace_id_of
from onceward.errors import InfrastructureError, MethodNotAllowed
from onceward.handlers.account_routes import AccountRoutes
from onceward.handlers.action_routes import ActionRoutes
from onceward.handlers.action_word_routes import ActionWordRoutes
from onceward.handlers.admission import ADMITTED, Admitted, admit, method_of, path_of, request_id_of
from onceward.handlers.document_routes import DocumentRoutes
from onceward.handlers.job_routes import JobRoutes
from onceward.handlers.list_routes import ListRoutes
from onceward.handlers.meter import Meter
from onceward.handlers.open_routes import OpenRoutes
from onceward.handlers.problems import INTERNAL, plain_reply, problem_response, status_of, to_error
from onceward.handlers.review_routes import ReviewRoutes
from onceward.handlers.routes import allowed_methods
from onceward.handlers.settings import ApiSettings
from onceward.handlers.world import World
from onceward.usecases.measuring import created_metrics

type Event = Mapping[str, Any]
type Reply = dict[str, Any]


class Api:
    """One execution environment's API. One request at a time, as Lambda hands them over."""

    def __init__(self, settings: ApiSettings, world: World, logger: Logger) -> None:
        """Register all routes."""
        self._settings = settings
        self._world = world
        self._logger = logger
        self._meter = Meter(settings.stage)
        self._event: Event = {}
        self._began = 0.0
        self.app = APIGatewayHttpResolver(enable_validation=True)
        self.app.exception_handler(Exception)(self._problem)
        JobRoutes(self.app, world)
        ListRoutes(self.app, world)
        ReviewRoutes(self.app, world)
        DocumentRoutes(self.app, world)
        AccountRoutes(self.app, world)
        ActionRoutes(self.app, world)
        ActionWordRoutes(self.app, world)
        OpenRoutes(self.app)

    def __call__(self, event: Event, context: LambdaContext) -> Reply:
        """Answer one request."""
        self._event = event
        self._began = self._world.intake.clock.monotonic()
        self._logger.set_correlation_id(request_id_of(event))
        self._logger.append_keys(function_request_id=context.aws_request_id)
        with self._world.invocation():
            reply = self._answered(event, context)
        return {**reply, "body": ""} if method_of(event) == "HEAD" else reply

    def _answered(self, event: Event, context: LambdaContext) -> Reply:
        """The answer of the route, or of what kept the request from it."""
        path = path_of(event)
        if method_of(event) == "OPTIONS" and allowed_methods(path):
            return {"statusCode": 204, "headers": {"Allow": ", ".join(allowed_methods(path))}, "body": ""}
        try:
            admitted = admit(event, self._settings)
        except Exception as error:
            return self._logged(plain_reply(self._problem(error)), None)
        self.app.context[ADMITTED] = admitted
        return self._logged(self.app.resolve(admitted.event, context), admitted)

    def _problem(self, error: Exception) -> Response[str]:
        """The answer for whatever was raised; only what nobody expected is logged, by its type, never by its text."""
        known = to_error(error)
        if isinstance(known, InfrastructureError) or status_of(known) == INTERNAL:
            self._logger.error("request failed", extra={"error": type(error).__name__, "code": known.code})
        allow = ", ".join(allowed_methods(path_of(self._event))) if isinstance(known, MethodNotAllowed) else None
        return problem_response(known, request_id_of(self._event), allow=allow)

    def _logged(self, reply: Reply, admitted: Admitted | None) -> Reply:
        """Log who asked what and how it ended: ids, the route's template and the status."""
        told: dict[str, Any] = {"status": reply["statusCode"], "request_id": request_id_of(self._event)}
        if admitted is not None:
            trace_id = trace_id_of(admitted.traceparent)
            told |= {"route": admitted.route.name, **({} if trace_id is None else {"trace_id": trace_id})}
            told |= admitted.notes
            if admitted.notes.get("is_replay") is False:
                self._meter.publish(created_metrics(self._world.intake.clock.monotonic() - self._began))
            if admitted.caller is not None:
                told |= {"tenant_id": admitted.caller.tenant_id, "subject": admitted.caller.subject}
        self._logger.info("request", extra=told)
        return reply
