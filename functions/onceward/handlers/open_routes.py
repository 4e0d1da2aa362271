"""The routes that are open to everybody: liveness and the API's own description. They tell nothing of any tenant."""

from __future__ import annotations

from functools import cached_property

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response

from onceward.handlers import routes
from onceward.handlers.admission import JSON
from onceward.handlers.answers import answer
from onceward.handlers.api_document import document_of, operation
from onceward.wire.responses import Health

CACHED = "public, max-age=300"  # it changes with a deploy


class OpenRoutes:
    """What everybody may ask one API."""

    def __init__(self, app: APIGatewayHttpResolver) -> None:
        """Register the routes."""
        self._app = app
        app.get(routes.HEALTH, **operation("health", "Is the API there", {200: Health}, routes.READ_HEALTH))(
            self.health
        )
        app.get(routes.OPENAPI, include_in_schema=False)(self.openapi)

    def health(self) -> Response[str]:
        """The API answers; it asks nothing of its stores, so that a probe costs nothing and wakes nobody."""
        return answer(200, Health())

    def openapi(self) -> Response[str]:
        """The API's description."""
        headers: dict[str, str | list[str]] = {"Cache-Control": CACHED}
        return Response(status_code=200, content_type=JSON, body=self._document, headers=headers)

    @cached_property
    def _document(self) -> str:
        """Made once per environment."""
        return document_of(self._app)
