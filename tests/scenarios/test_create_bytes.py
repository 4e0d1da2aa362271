"""What is sent byte by byte, through the deployed gateway and function. JC-… and ID-… name the real-world cases.

The local gateway hands a body over as text and repairs what is no UTF-8 (JC-10) before any function sees it; AWS's
hands it over in base64, so for that case the deployed function is given the event that AWS's would make.
"""

from __future__ import annotations

import base64
import itertools
import json

import httpx
import pytest

from tests.scenarios.customers import quiet_afterwards
from tests.scenarios.stack import DeployedStack
from tests.support.api_world import an_event, claims_of

__all__ = ["quiet_afterwards"]

_keys = (f"bytes {number}" for number in itertools.count())
BODY = b'{"kind":"test.ask","input":{"prompt":"bytes"}}'
RESPELT = b'{\n\n "input" : {"prompt": "b\\u0079tes"},\t"kind":"test.ask" }\n'


def within(value: bytes) -> bytes:
    """A create whose input has one more member, of these bytes; the tests' kind leaves it alone."""
    return b'{"kind":"test.ask","input":{"prompt":"bytes","more":' + value + b"}}"


def post(stack: DeployedStack, body: bytes, *keys: bytes) -> httpx.Response:
    """Send it as it is; without keys, under a new one."""
    sent = keys or (b'"' + next(_keys).encode() + b'"',)
    token = stack.headers()["authorization"].encode()
    headers = [(b"authorization", token), (b"content-type", b"application/json")]
    return stack.http.post(
        "/api/ai/jobs", content=body, headers=[*headers, *((b"idempotency-key", key) for key in sent)]
    )


@pytest.mark.failure_mode("F16")
@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        pytest.param(within(b'"\\ud800"'), 400, "malformed_json", id="JC-08 lone surrogate"),
        pytest.param(within(b"NaN"), 400, "malformed_json", id="JC-19"),
        pytest.param(within(b"-Infinity"), 400, "malformed_json", id="JC-20"),
        pytest.param(within(b"10000000000000000999"), 400, "malformed_json", id="JC-26"),
        pytest.param(within(b"-9223372036854775809"), 400, "malformed_json", id="JC-28"),
        pytest.param(within(b'"\\uD800\\uD800x"'), 400, "malformed_json", id="JC-30"),
        pytest.param(within(b"123123e100000"), 400, "malformed_json", id="JC-32"),
        pytest.param(b"\xef\xbb\xbf" + BODY, 400, "malformed_json", id="JC-33 byte order mark"),
        pytest.param(BODY.decode().encode("utf-16-le"), 400, "malformed_json", id="JC-34 UTF-16"),
        pytest.param(within(b"[" * 500 + b"]" * 500), 400, "json_too_deep", id="JC-36"),
        pytest.param(within(b"012"), 400, "malformed_json", id="JC-37"),
        pytest.param(within(b'"a\nb"'), 400, "malformed_json", id="JC-38"),
        pytest.param(b'{"kind":"test.ask","kind":"test.ask","input":{}}', 400, "malformed_json", id="one name twice"),
        pytest.param(b"", 400, "malformed_json", id="empty"),
        pytest.param(within(b'"' + b"x" * 300_000 + b'"'), 413, "body_too_large", id="beyond 256 KB"),
    ],
)
def test_body_that_another_parser_might_read_otherwise_is_refused(
    stack: DeployedStack, body: bytes, status: int, code: str
) -> None:
    """A problem with its code, never a 5xx, and the key stays free for the corrected request."""
    key = b'"' + next(_keys).encode() + b'"'
    answer = post(stack, body, key)

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/problem+json"
    assert post(stack, BODY, key).status_code == httpx.codes.ACCEPTED


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        pytest.param(within(b'"\xff"'), 400, id="JC-10 0xFF"),
        pytest.param(within(b'"\xc3"'), 400, id="JC-10 half a letter"),
        pytest.param(within(b'"\xed\xa0\x80"'), 400, id="JC-10 a surrogate in UTF-8's clothes"),
        pytest.param(within(b'"\xc3\xbc"'), 202, id="UTF-8"),
    ],
)
def test_bytes_that_are_no_utf8_are_refused_and_never_repaired(stack: DeployedStack, raw: bytes, status: int) -> None:
    """Two bodies that a repair would make equal must not become one request."""
    event = an_event(
        "POST",
        "/api/ai/jobs",
        body=base64.b64encode(raw).decode(),
        headers={"idempotency-key": f'"{next(_keys)}"'},
        claims=claims_of(),
        is_base64=True,
    )
    answer = stack.aws("lambda").invoke(FunctionName=stack.outputs["ApiFunction"], Payload=json.dumps(event))
    reply = json.load(answer["Payload"])

    assert (reply["statusCode"], json.loads(reply["body"]).get("code")) == (
        status,
        "malformed_json" if status == httpx.codes.BAD_REQUEST else None,
    )


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        pytest.param(
            BODY, b'{\n\n "input" : {"prompt": "b\\u0079tes"},\t"kind":"test.ask" }\n', True, id="ID-01, ID-02"
        ),
        pytest.param(within('"é"'.encode()), within('"e\u0301"'.encode()), False, id="JC-12, JC-13"),
        pytest.param(within(b"0.000001"), within(b"1e-6"), True, id="JC-16"),
        pytest.param(within(b"[-0,1]"), within(b"[0,1.0]"), True, id="JC-17"),
        pytest.param(within('{"é":1,"e\u0301":2}'.encode()), within('{"e\u0301":2,"é":1}'.encode()), True, id="JC-24"),
        pytest.param(within(b"1.000000000000000005"), within(b"1"), True, id="JC-25"),
        pytest.param(within(b"1e-999"), within(b"0"), True, id="JC-27"),
        pytest.param(within(b'"a\\u0000b"'), within(b'"a\\u0000c"'), False, id="JC-29, SQS-34"),
        pytest.param(within(b'"a\\u000bb"'), within(b'"ab"'), False, id="SQS-34 vertical tab"),
        pytest.param(within('"\U0010ffff"'.encode()), within(b'"\\udbff\\udfff"'), True, id="JC-39"),
        pytest.param(
            within(b'{"\\u20ac":1,"\\r":2,"1":3,"\\u0080":4}'),
            within(b'{"1":3,"\\r":2,"\\u0080":4,"\xe2\x82\xac":1}'),
            True,
            id="JC-05",
        ),
    ],
)
def test_bodies_are_one_request_exactly_when_their_canonical_bytes_are(
    stack: DeployedStack, one: bytes, other: bytes, is_same: bool
) -> None:
    """The second is a replay of the first, or a key that was used for another request; it never is a third thing."""
    key = b'"' + next(_keys).encode() + b'"'
    first, second = post(stack, one, key), post(stack, other, key)

    assert first.status_code == httpx.codes.ACCEPTED, first.text
    assert second.status_code == (httpx.codes.ACCEPTED if is_same else httpx.codes.CONFLICT), second.text
    assert not is_same or second.json()["job_id"] == first.json()["job_id"]


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        pytest.param([b""], "idempotency_key_malformed", id="ID-25 empty"),
        pytest.param([b"k" * 256], "idempotency_key_too_long", id="ID-25 too long"),
        pytest.param(["ключ-481".encode()], "idempotency_key_malformed", id="ID-26"),
        pytest.param([b'"a\tb"'], "idempotency_key_malformed", id="ID-27"),
        pytest.param([b"k35a", b"k35b"], "idempotency_key_malformed", id="ID-35"),
        pytest.param([b'"k";v=1'], "idempotency_key_malformed", id="parameters"),
    ],
)
def test_key_outside_its_grammar_is_refused(stack: DeployedStack, keys: list[bytes], code: str) -> None:
    """400 with a reason, whatever the gateway makes of the header on the way."""
    answer = post(stack, BODY, *keys)

    assert (answer.status_code, answer.json()["code"]) == (400, code)


def test_spellings_of_a_key_are_one_key(stack: DeployedStack) -> None:
    """ID-23, ID-25, ID-28: quoted or bare, whatever the case of the header's name, at both ends of its length."""
    ids = {post(stack, BODY, spelling).json()["job_id"] for spelling in (b"1b7c4e-x", b'"1b7c4e-x"')}
    headers = {**stack.headers(), "IDEMPOTENCY-KEY": "1b7c4e-x", "content-type": "application/json"}
    ids.add(stack.http.post("/api/ai/jobs", content=BODY, headers=headers).json()["job_id"])

    assert len(ids) == 1
    assert post(stack, BODY, b"k").status_code == post(stack, BODY, b"k" * 255).status_code == httpx.codes.ACCEPTED


def test_large_body_is_stored_and_replayed_like_a_small_one(stack: DeployedStack) -> None:
    """Beyond 4 KB the input is an object under the job's id, named by the item; the message never carries it."""
    body = within(b'"' + b"large " * 3_000 + b'"')
    first = post(stack, body, b"large")
    second = post(stack, body, b"large")
    job_id = first.json()["job_id"]
    item = next(item for item in stack.items(job_id) if item["sk"]["S"] == "input")
    stored = stack.aws("s3").get_object(Bucket=stack.outputs["Bucket"], Key=item["blob_key"]["S"])["Body"].read()

    assert second.json()["job_id"] == job_id
    assert b"large large" in stored
    assert item["blob_key"]["S"] == f"jobs/acme/{job_id}/input"
    assert stack.ended(job_id)["status"] == "succeeded"
