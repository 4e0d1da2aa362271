"""The HTTP API's Lambda. Nothing is built before the first request, so that the module can be imported anywhere."""

from __future__ import annotations

from functools import cache

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from onceward.handlers.api_app import Api, Event, Reply
from onceward.handlers.settings import ApiSettings
from onceward.handlers.wiring import Wiring
from onceward.kinds.registered import KINDS


@cache
def _api() -> Api:
    """The environment's API, made by its first request."""
    settings = ApiSettings.from_environment()
    return Api(settings, Wiring.of_api(settings, KINDS), Logger())


def handler(event: Event, context: LambdaContext) -> Reply:
    """Answer one request of the HTTP API (payload format 2.0)."""
    return _api()(event, context)
