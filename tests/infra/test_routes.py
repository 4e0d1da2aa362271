"""The routes that the stack deploys are the routes that the code answers."""

from __future__ import annotations

from onceward.handlers.routes import ROUTES
from tests.infra.test_http_api import TENANT_ROUTES


def test_code_and_gateway_agree_which_routes_need_a_token() -> None:
    """A route without an authorizer could never be used; a path of the gateway's that the code lacks is a 404."""
    answered = {route.name.replace("<", "{").replace(">", "}") for route in ROUTES if route.scope is not None}

    assert answered == TENANT_ROUTES
