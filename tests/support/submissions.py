"""Submitting wishes to a world of memory, and looking at what that stored."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from onceward.domain.ledger import Account
from onceward.domain.names import Fingerprint, Identity
from onceward.domain.records import Input
from onceward.usecases.stored_input import StoredInput
from onceward.usecases.submit_job import Kept, Submission, submit_job
from tests.support.api_world import ApiWorld
from tests.support.builders import IDENTITY, TENANT, a_policy

TARIFF = a_policy().tariff_micro_usd


def a_wish(**fields: Any) -> Submission:
    """A wish for a text."""
    wish = Submission(
        tenant_id=TENANT,
        identity=Identity(IDENTITY),
        fingerprint=Fingerprint("f" * 64),
        kind="text.generate",
        input={"prompt": "hello"},
        created_by="client-1",
    )
    return replace(wish, **fields)


def submit(world: ApiWorld, **fields: Any) -> Kept:
    """Submit a wish."""
    return asyncio.run(submit_job(world.intake, a_wish(**fields)))


def stored_input(world: ApiWorld, kept: Kept) -> StoredInput:
    """The input item, wherever its body is."""
    item = world.store.items[TENANT, kept.job.job_id]["input"]
    assert isinstance(item, Input)
    body = item.body if item.blob_key is None else asyncio.run(world.blob.get(item.blob_key))
    return StoredInput.model_validate_json(body or "")


def snapshot(world: ApiWorld) -> str:
    """Everything that is stored, to show that nothing was written."""
    store = world.store
    return repr((store.rows, store.items, store.accounts, store.entries, world.queue.next_visible_at))


def an_account(world: ApiWorld, available: int) -> None:
    """Give the tenant a budget."""
    world.store.accounts[TENANT] = Account(
        tenant_id=TENANT, granted=available, available=available, reserved=0, captured=0
    )
