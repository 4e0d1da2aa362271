"""The route of documents: a form that lets one file in."""

from __future__ import annotations

from typing import Annotated

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.openapi.params import Body

from onceward.handlers import routes
from onceward.handlers.answers import admitted_of, answer
from onceward.handlers.api_document import operation
from onceward.handlers.world import World
from onceward.usecases.request_upload import Upload, request_upload
from onceward.wire.requests import CreateUpload
from onceward.wire.responses import UploadAccepted


class DocumentRoutes:
    """The documents of one API."""

    def __init__(self, app: APIGatewayHttpResolver, world: World) -> None:
        """Register the route."""
        self._app = app
        self._world = world
        told = operation("create_document", "Get a form to upload a document", {201: UploadAccepted}, routes.UPLOAD)
        app.post(routes.DOCUMENTS, **told)(self.create)

    def create(self, body: Annotated[CreateUpload, Body()]) -> Response[str]:
        """A form that is good for five minutes, for one file of exactly this type, size and checksum."""
        intake = self._world.intake
        tenant_id = admitted_of(self._app).principal.tenant_id
        wanted = Upload(content_type=body.content_type, sha256=body.sha256, size=body.size)
        document_id, form = self._world.run(request_upload(intake, tenant_id=tenant_id, upload=wanted))
        accepted = UploadAccepted(
            document_id=document_id, url=form.url, fields=dict(form.fields), expires_at=form.expires_at
        )
        return answer(201, accepted)
