"""The route of a tenant's own account: what it may still spend. Granting is no route: AWS rights decide that."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response

from onceward.domain.ledger import Account
from onceward.handlers import routes
from onceward.handlers.answers import admitted_of, answer
from onceward.handlers.api_document import operation
from onceward.handlers.world import World
from onceward.wire.responses import AccountView


class AccountRoutes:
    """The account of one API's caller; the tenant comes from the verified token and from nowhere else."""

    def __init__(self, app: APIGatewayHttpResolver, world: World) -> None:
        """Register the route."""
        self._app = app
        self._world = world
        told = operation("get_account", "Read your account", {200: AccountView}, routes.READ_ACCOUNT)
        app.get(routes.ACCOUNT, **told)(self.read)

    def read(self) -> Response[str]:
        """How the account stands, or that there is none."""
        tenant_id = admitted_of(self._app).principal.tenant_id
        account = self._world.run(self._world.intake.store.get_account(tenant_id))
        return answer(200, account_view(account))


def account_view(account: Account | None) -> AccountView:
    """An account as its tenant sees it."""
    if account is None:
        return AccountView(is_limited=False)
    return AccountView(
        is_limited=True,
        granted_micro_usd=account.granted,
        available_micro_usd=account.available,
        reserved_micro_usd=account.reserved,
        captured_micro_usd=account.captured,
        in_flight=account.in_flight,
        most_in_flight=account.most_in_flight,
    )
