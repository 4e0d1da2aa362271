"""Reading I-JSON and its canonical form. Numbers like JC-01 name the real-world cases that the rows were taken from."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from onceward.domain.names import TenantId
from onceward.errors import MalformedJson, TooLarge
from onceward.wire.canonical import canonical_bytes, fingerprint, job_identity
from onceward.wire.ijson import MAX_BODY_BYTES, MAX_DEPTH, MAX_INTEGER, read_json

FINGERPRINT = "718a98a46d66fb971b3b95508a4742d7de9e9d6e4a1f3282c06117506b9bf76e"
CANONICAL = [
    pytest.param(
        b'[\n  56,\n  {\n    "d": true,\n    "10": null,\n    "1": [ ]\n  }\n]\n',
        b'[56,{"1":[],"10":null,"d":true}]',
        id="JC-01 arrays",
    ),
    pytest.param(
        '{"peach": "This", "péché": "is wrong", "pêche": "but", "sin":   "ignore"}'.encode(),
        '{"peach":"This","péché":"is wrong","pêche":"but","sin":"ignore"}'.encode(),
        id="JC-02 french",
    ),
    pytest.param(
        b'{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],'
        b' "string": "\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/", "literals": [null, true, false]}',
        b'{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        b'"string":"\xe2\x82\xac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
        id="JC-05 values",
    ),
    pytest.param('{"t":"café"}'.encode(), '{"t":"café"}'.encode(), id="JC-12 composed"),
    pytest.param('{"t":"cafe\u0301"}'.encode(), '{"t":"cafe\u0301"}'.encode(), id="JC-13 decomposed"),
    pytest.param(b"[0.000001,0.0000001,1E-6,1E-7]", b"[0.000001,1e-7,0.000001,1e-7]", id="JC-16 exponent"),
    pytest.param(b"[-0,-0.0,0,1.0,10.0,1E2]", b"[0,0,0,1,10,100]", id="JC-17 zeros and whole floats"),
    pytest.param(
        '{"é":"NFC","e\u0301":"NFD"}'.encode(), '{"e\u0301":"NFD","é":"NFC"}'.encode(), id="JC-24 two spellings"
    ),
    pytest.param(b"[1.000000000000000005]\n", b"[1]", id="JC-25 excess digits"),
    pytest.param(b"[1E-999]\n", b"[0]", id="JC-27 underflow"),
    pytest.param(b'["A\\u0000B"]', b'["A\\u0000B"]', id="JC-29 escaped NUL"),
    pytest.param(b'["\xf4\x8f\xbf\xbf"]', b'["\xf4\x8f\xbf\xbf"]', id="JC-39 non-character"),
    pytest.param(b'["\\uffff\\ufdd0"]', '["\uffff\ufdd0"]'.encode(), id="escaped noncharacters"),
    pytest.param('{"\U0001fffe":1}'.encode(), '{"\U0001fffe":1}'.encode(), id="a noncharacter in a name"),
    pytest.param(b'["\\ud83d\\ude00"]', '["\U0001f600"]'.encode(), id="an escaped pair is a character"),
    pytest.param(b"[9007199254740991]", b"[9007199254740991]", id="the last exact integer"),
]
REFUSED = [
    pytest.param(b'{"a":"\\ud800"}', id="JC-08 lone surrogate in a value"),
    pytest.param(b'{"\\udc00":1}', id="lone surrogate in a name"),
    pytest.param(b'["\xff"]', id="JC-10 byte 0xFF"),
    pytest.param(b'{"score":NaN}', id="JC-19 NaN"),
    pytest.param(b"[-Infinity]", id="JC-20 -Infinity"),
    pytest.param(b"[10000000000000000999]", id="JC-26 beyond 2^64"),
    pytest.param(b"[9007199254740992]", id="the first inexact integer"),
    pytest.param(b"[-9223372036854775809]", id="JC-28 below int64"),
    pytest.param(b"[" + b"9" * 5000 + b"]", id="an integer longer than Python converts"),
    pytest.param(b'["\\uD800"]', id="JC-30 escaped lone surrogate"),
    pytest.param(b"[123123e100000]", id="JC-32 overflow"),
    pytest.param(b"\xef\xbb\xbf{}", id="JC-33 byte order mark"),
    pytest.param('["é"]'.encode("utf-16-le"), id="JC-34 UTF-16"),
    pytest.param(b"[" * 500 + b"]" * 500, id="JC-36 500 levels"),
    pytest.param(b"[012]", id="JC-37 leading zero"),
    pytest.param(b'["new\nline"]', id="JC-38 raw newline"),
    pytest.param(b'{"a":1,"a":1}', id="one name twice"),
    pytest.param(b'{"b":{"a":1,"\\u0061":1}}', id="one name in two spellings"),
    pytest.param(b"", id="nothing"),
    pytest.param(b"{} {}", id="two texts"),
    pytest.param(b"{'a':1}", id="single quotes"),
    pytest.param(b'"unclosed', id="an unclosed string"),
]


@pytest.mark.failure_mode("F15")
@pytest.mark.parametrize(("raw", "canonical"), CANONICAL)
def test_what_is_read_has_the_canonical_bytes_of_rfc_8785(raw: bytes, canonical: bytes) -> None:
    """The official vectors and the cases that others got wrong come out byte by byte."""
    assert canonical_bytes(read_json(raw)) == canonical


@pytest.mark.failure_mode("F16")
@pytest.mark.parametrize("raw", REFUSED)
def test_what_another_parser_might_read_differently_is_refused(raw: bytes) -> None:
    """Nothing outside I-JSON gets a fingerprint: it is answered 400, and no key is taken."""
    with pytest.raises(MalformedJson):
        read_json(raw)


@pytest.mark.failure_mode("F15")
@pytest.mark.parametrize(
    ("double", "printed"),
    [
        ("0000000000000000", "0"),
        ("0000000000000001", "5e-324"),
        ("7fefffffffffffff", "1.7976931348623157e+308"),
        ("4340000000000000", "9007199254740992"),
        ("4430000000000000", "295147905179352830000"),
        ("44b52d02c7e14af6", "1e+23"),
        ("444b1ae4d6e2ef4e", "999999999999999700000"),
        ("444b1ae4d6e2ef50", "1e+21"),
        ("3eb0c6f7a0b5ed8d", "0.000001"),
        ("41b3de4355555554", "333333333.33333325"),
        ("41b3de4355555556", "333333333.3333334"),
        ("becbf647612f3696", "-0.0000033333333333333333"),
        ("4340000000000001", "9007199254740994"),
        ("3ff0000000000000", "1"),
        ("3fd3333333333332", "0.29999999999999993"),
        ("0010000000000000", "2.2250738585072014e-308"),
        ("3fa999999999999a", "0.05"),
        ("c46696695dbd1cc3", "-3.3333333333333335e+21"),
    ],
)
def test_doubles_are_printed_as_ecmascript_does(double: str, printed: str) -> None:
    """JC-07: each double of RFC 8785's appendix B prints exactly as listed."""
    (value,) = struct.unpack(">d", bytes.fromhex(double))

    assert canonical_bytes(value).decode() == printed


def test_a_value_without_canonical_form_is_refused() -> None:
    """Infinity, and an integer that no double holds, have no canonical bytes, wherever they come from."""
    for value in (float("inf"), float("nan"), MAX_INTEGER + 1):
        with pytest.raises(MalformedJson):
            canonical_bytes(value)


@pytest.mark.failure_mode("F18")
def test_depth_is_limited_where_the_limit_says() -> None:
    """The deepest allowed text is read, one level more is refused; brackets inside strings do not count."""
    read_json(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)
    read_json(b'["' + b"[" * 500 + b'\\"' + b'"]')

    with pytest.raises(MalformedJson):
        read_json(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1))


@pytest.mark.failure_mode("F18")
def test_a_hostile_text_is_read_in_linear_time() -> None:
    """Quotes that never close, in any number, cost one scan: a body cannot stop the API."""
    for raw in (b'\\"' * (MAX_BODY_BYTES // 2), b'"' + b'\\"' * 100_000, b'"\\' * 100_000, b"[" * MAX_BODY_BYTES):
        with pytest.raises(MalformedJson):
            read_json(raw)


def test_a_body_beyond_its_limit_is_told_apart() -> None:
    """The largest body is read; one byte more is too large, not malformed."""
    read_json(b'"' + b"a" * (MAX_BODY_BYTES - 2) + b'"')

    with pytest.raises(TooLarge):
        read_json(b'"' + b"a" * (MAX_BODY_BYTES - 1) + b'"')


@pytest.mark.failure_mode("F17")
def test_a_fingerprint_ignores_spelling_and_sees_content() -> None:
    """Order and white space make no new request (ID-01, ID-02); kind, value and Unicode form do (JC-12, JC-13)."""
    one = fingerprint("k", read_json(b'{"a":1,"b":{"x":1,"y":2}}'))

    assert fingerprint("k", read_json(b'{"b":{"y":2,"x":1.0}, "a":1}')) == one
    others = {
        fingerprint("l", read_json(b'{"a":1,"b":{"x":1,"y":2}}')),
        fingerprint("k", read_json(b'{"a":1,"b":{"x":1,"y":"2"}}')),
        fingerprint("k", read_json('{"t":"café"}'.encode())),
        fingerprint("k", read_json('{"t":"cafe\u0301"}'.encode())),
    }
    assert len(others | {one}) == 5


@pytest.mark.failure_mode("F13")
def test_an_identity_belongs_to_one_tenant_route_and_key() -> None:
    """Where a separator falls makes a difference (ID-16, ID-37): names are hashed as an array, not glued together."""
    triples = [("a", "POST /x", "bc"), ("ab", "POST /x", "c"), ("a", "POST /x", "c"), ("a", "POST /y", "bc")]
    triples += [('a","POST /x', "", "bc"), ("a", "POST /xb", "c")]
    identities = {job_identity(TenantId(tenant), route, key) for tenant, route, key in triples}

    assert len(identities) == len(triples)
    assert all(len(one) == 26 for one in identities)


def test_identity_and_fingerprint_never_change() -> None:
    """Stored rows are found by these; another spelling of the hash would create every job anew."""
    assert job_identity(TenantId("acme"), "POST /api/ai/jobs", "key-1") == "OAY4NRO3OVOLSTOK7K5BPSQRHY"
    assert fingerprint("text.generate", {"prompt": "hello"}) == FINGERPRINT


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-MAX_INTEGER, MAX_INTEGER)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.floats(-MAX_INTEGER, MAX_INTEGER),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(JSON)
def test_canonical_bytes_are_a_fixed_point(value: JsonValue) -> None:
    """What is canonical reads back to the same canonical bytes."""
    canonical = canonical_bytes(value)

    assert canonical_bytes(read_json(canonical)) == canonical
