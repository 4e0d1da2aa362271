"""Scopes in their spellings."""

from __future__ import annotations

import pytest

from onceward.wire.scopes import Scope, read_scopes


@pytest.mark.parametrize(
    ("claim", "scopes"),
    [
        ("jobs:read jobs:write", {Scope.JOBS_READ, Scope.JOBS_WRITE}),
        ("onceward/jobs:read openid", {Scope.JOBS_READ}),
        ("[jobs:read ops]", {Scope.JOBS_READ, Scope.OPS}),
        (["onceward/ops"], {Scope.OPS}),
        ("other/jobs:read", set()),
        ("jobs:readonly", set()),
        ("", set()),
        (None, set()),
    ],
)
def test_only_scopes_of_ours_count(claim: object, scopes: set[Scope]) -> None:
    """Bare or with our resource server, as a string, a list or the gateway's spelling of a list; no other server's."""
    assert read_scopes(claim) == scopes
