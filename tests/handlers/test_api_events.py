"""The sample payloads of the API, each through its handler."""

from __future__ import annotations

import asyncio

import pytest

from onceward.kinds.registered import KINDS
from onceward.usecases.documents import document_key
from tests.support.api_world import ApiWorld, ask
from tests.support.builders import TENANT, a_job
from tests.support.samples import EVENTS, sample

SAMPLES = {
    "api_create_job": 202,
    "api_create_document": 201,
    "api_create_comparison": 202,
    "api_read_job": 200,
    "api_cancel_job": 200,
    "api_health": 200,
    "api_openapi": 200,
    "api_unknown_route": 404,
    "api_head_job": 405,
}


COMPARED = ("FIRSTDOCUMENTAAAAAAAAAAAAA", "SECONDDOCUMENTAAAAAAAAAAAA")


def a_world() -> ApiWorld:
    """The kinds that ship, and the documents that a sample names."""
    world = ApiWorld(registry=KINDS)
    for document_id in COMPARED:
        put = world.blob.put(document_key(TENANT, document_id), b"A contract.", "text/plain")
        asyncio.run(put)
    return world


@pytest.mark.parametrize(("name", "status"), SAMPLES.items())
def test_a_sample_is_answered(name: str, status: int) -> None:
    """As the gateway sends it, with everything around that it adds."""
    world = a_world()
    if name in {"api_read_job", "api_cancel_job"}:
        ask(world.api(), sample("api_create_job"))

    assert ask(world.api(), sample(name)).status == status


def test_no_sample_is_forgotten() -> None:
    """Each file of the folder that belongs to this handler is one of the cases above."""
    assert {path.stem for path in EVENTS.glob("api_*.json")} == set(SAMPLES)


def test_a_sample_works_in_a_warm_environment_too() -> None:
    """One API answers request after request; nothing of one is seen by the next."""
    world = a_world()
    api = world.api()
    world.keep(a_job())
    statuses = [ask(api, sample(name)).status for name in (*SAMPLES, *SAMPLES) if name != "api_cancel_job"]

    assert statuses == [status for name, status in SAMPLES.items() if name != "api_cancel_job"] * 2
