"""What the clients of ``make run`` may do."""

from __future__ import annotations

from onceward.local.tenants import TENANTS, granted_to
from tests.support.actions import an_action, declared
from tests.support.api_world import a_registry


def test_every_action_of_the_checkout_can_be_asked_for() -> None:
    """Whoever declares one tries it on the stack of ``make run``, where nobody else would grant its scope."""
    kinds = declared(a_registry(), an_action("header", "book_seat"))

    assert all("actions:book_seat" in granted_to(client, kinds) for client in TENANTS)
    assert all("actions:create_task" in granted_to(client) for client in TENANTS)


def test_only_the_operator_may_decide() -> None:
    """No tenant approves or resets what its own agent asked for."""
    assert [client for client in TENANTS if "ops" in granted_to(client)] == ["operator"]
