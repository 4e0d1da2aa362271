"""POST /api/ai/jobs: keys and bodies that cannot be taken, and spellings that can. ID-… and JC-… name the cases."""

from __future__ import annotations

import base64
import json

import pytest

from onceward.usecases.pointers import MOST_FAULTS
from onceward.wire.ijson import MAX_BODY_BYTES
from tests.support.api_world import ApiWorld, an_event, ask, claims_of, create

BODY = '{"kind": "text.generate", "input": {"prompt": "hello"}}'


@pytest.mark.parametrize("name", ["idempotency-key", "IDEMPOTENCY-KEY", "Idempotency-Key"])
def test_the_keys_header_has_no_case(name: str) -> None:
    """ID-28: however the header's name arrives, it is one key."""
    world = ApiWorld()
    api = world.api()
    first = create(api, "k28")
    reply = ask(api, an_event("POST", "/api/ai/jobs", body=BODY, headers={name: '"k28"'}, claims=claims_of()))

    assert reply.json["job_id"] == first.json["job_id"]


@pytest.mark.parametrize(
    ("key", "code"),
    [
        (None, "idempotency_key_missing"),
        ("", "idempotency_key_malformed"),
        ("k" * 256, "idempotency_key_too_long"),
        ('"' + "k" * 256 + '"', "idempotency_key_too_long"),
        ("ключ-481", "idempotency_key_malformed"),
        ('"a\tb"', "idempotency_key_malformed"),
        ("a\x00b", "idempotency_key_malformed"),
        ("k35a,k35b", "idempotency_key_malformed"),
        ('"k";v=1', "idempotency_key_malformed"),
    ],
)
def test_a_key_outside_its_grammar_is_refused_before_the_body_is_looked_at(key: str | None, code: str) -> None:
    """ID-25, ID-26, ID-27, ID-35: 400 with a reason; the key is neither stored nor logged nor told."""
    world = ApiWorld()
    reply = create(world.api(), key, body="{broken")

    assert (reply.status, reply.json["code"]) == (400, code)
    assert world.is_untouched()
    assert "\x00" not in json.dumps(world.lines)
    assert "ключ" not in reply.text + json.dumps(world.lines, ensure_ascii=False)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        pytest.param('{"doc":', 400, "malformed_json", id="ID-19 broken"),
        pytest.param("", 400, "malformed_json", id="empty"),
        pytest.param('{"kind":"text.generate","input":{"prompt":"\\ud800"}}', 400, "malformed_json", id="JC-08"),
        pytest.param('{"kind":"text.generate","input":{"prompt":NaN}}', 400, "malformed_json", id="JC-19"),
        pytest.param('{"kind":"a","kind":"text.generate","input":{}}', 400, "malformed_json", id="one name twice"),
        pytest.param("\ufeff" + BODY, 400, "malformed_json", id="JC-33"),
        pytest.param('{"kind":"text.generate","input":{"n":1e999}}', 400, "malformed_json", id="JC-32"),
        pytest.param('{"kind":"text.generate","input":{"n":9007199254740993}}', 400, "malformed_json", id="JC-26"),
        pytest.param(
            '{"kind":"text.generate","input":' + "[" * 500 + "]" * 500 + "}", 400, "json_too_deep", id="JC-36"
        ),
        pytest.param("[]", 422, "invalid_input", id="no object"),
        pytest.param('"text"', 422, "invalid_input", id="a string"),
        pytest.param("null", 422, "invalid_input", id="null"),
        pytest.param('{"kind":"text.generate"}', 422, "invalid_input", id="no input"),
        pytest.param('{"kind":"text.generate","input":[]}', 422, "invalid_input", id="input is no object"),
        pytest.param('{"kind":"Text","input":{}}', 422, "invalid_input", id="no kind's name"),
        pytest.param('{"kind":"text.generate","input":{},"priority":1}', 422, "invalid_input", id="an unknown member"),
        pytest.param('{"kind":"text.generate","input":{}}', 422, "invalid_input", id="ID-38 breaks the kind's model"),
        pytest.param('{"kind":"no.such","input":{}}', 422, "unknown_kind", id="no such kind"),
        pytest.param(
            '{"kind":"text.generate","input":{"prompt":"x","documents":["none"]}}',
            422,
            "unknown_document",
            id="no such document",
        ),
    ],
)
def test_a_body_that_cannot_be_taken_reserves_no_key(body: str, status: int, code: str) -> None:
    """Broken is 400, wrong is 422, each with its code; nothing is stored, and the corrected request goes through."""
    world = ApiWorld()
    api = world.api()
    reply = create(api, body=body)

    assert (reply.status, reply.json["code"]) == (status, code)
    assert reply.headers["content-type"] == "application/problem+json"
    assert world.is_untouched()
    assert create(api).status == 202


@pytest.mark.parametrize("raw", [b'{"kind":"\xff"}', '{"kind":"é"}'.encode("utf-16-le")], ids=["JC-10", "JC-34"])
def test_bytes_that_are_no_utf8_are_refused(raw: bytes) -> None:
    """What the gateway passes on as base64 is read as the bytes it was, and never repaired."""
    world = ApiWorld()
    reply = create(world.api(), body=base64.b64encode(raw).decode(), is_base64=True)

    assert (reply.status, reply.json["code"]) == (400, "malformed_json")


def test_a_body_in_base64_is_the_same_request() -> None:
    """The gateway's choice of transport makes no other fingerprint."""
    world = ApiWorld()
    api = world.api()
    first = create(api)
    second = create(api, body=base64.b64encode(BODY.encode()).decode(), is_base64=True)

    assert second.json["job_id"] == first.json["job_id"]
    assert create(api, body="no base64!", is_base64=True).status == 400


def test_size_and_media_type_have_answers_of_their_own() -> None:
    """413 tells to upload instead; 415 for what is not JSON; parameters of the media type are fine."""
    world = ApiWorld()
    api = world.api()
    large = json.dumps({"kind": "text.generate", "input": {"prompt": "x" * MAX_BODY_BYTES}})

    def sent_as(media_type: str) -> int:
        headers = {"content-type": media_type, "idempotency-key": "k"}
        return ask(api, an_event("POST", "/api/ai/jobs", body=BODY, headers=headers, claims=claims_of())).status

    assert (create(api, body=large).status, create(api, body=large).json["code"]) == (413, "body_too_large")
    assert sent_as("text/plain") == sent_as("application/x-www-form-urlencoded") == 415
    assert sent_as("application/json; charset=utf-8") == sent_as("Application/JSON") == 202


@pytest.mark.parametrize(
    "given",
    [
        pytest.param('"documents":[' + ",".join(["1"] * 100_000) + "]", id="a hundred thousand wrong entries"),
        pytest.param('"documents":["x"' + ',"x"' * 60_000 + "]", id="one absent document, named again and again"),
        pytest.param(",".join(f'"{number:x}":1' for number in range(25_000)), id="unknown members"),
        pytest.param('"' + "\\u0001" * 40_000 + '":1', id="a very long name"),
    ],
)
def test_a_refusal_is_small_whatever_it_refuses(given: str) -> None:
    """Lambda answers 6 MB at most: a body that is wrong everywhere is still told what is wrong, in a few KB."""
    world = ApiWorld()
    reply = create(world.api(), body=f'{{"kind":"text.generate","input":{{"prompt":"x",{given}}}}}')

    assert reply.status == 422
    assert len(reply.text) < 8 * 1024
    assert len(reply.json["errors"]) <= MOST_FAULTS + 1
    assert "\\u0001" not in reply.text
    assert world.is_untouched()
