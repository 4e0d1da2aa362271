"""Answers that are made to harm: bombs, foreign JSON, redirects to nowhere. A bound holds, and each has its meaning."""

from __future__ import annotations

import asyncio
import functools
import gzip
import json
import tracemalloc
import zlib
from typing import Any

import pytest

from onceward.domain.records import ANSWER_LIMIT
from onceward.domain.recovery import LookupReply
from onceward.errors import CallFailure
from onceward.providers.http import HttpReply
from onceward.providers.reading import read_object
from onceward.usecases.ports import ModelReply
from tests.unit.providers.asking import Dialect, ask, look
from tests.unit.providers.scripted_server import Respond, answering, completion
from tests.unit.providers.wire_bodies import message

LAMBDA_ANSWER = 6 * 2**20  # bytes that AWS lets a Lambda answer with
HTTP: tuple[Dialect, ...] = ("openai", "anthropic")
MANY_DIGITS = "9" * 9_000
DEEP = "[" * 200_000


def meaning(respond: Respond, dialect: Dialect = "openai") -> tuple[str, str, bool]:
    """Class, code and whether it was sent, of a call that must fail."""
    outcome, _ = ask(respond, dialect=dialect)
    assert isinstance(outcome, CallFailure)
    return outcome.error_class, outcome.code, outcome.was_sent


def sending(status: int, body: bytes, **headers: str) -> Respond:
    """Answer with these bytes."""
    lines = [f"HTTP/1.1 {status} Whatever", f"content-length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]

    async def respond(writer: Any) -> None:
        writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
        await writer.drain()

    return respond


@functools.cache
def bomb(megabytes: int, layers: int) -> bytes:
    """So many megabytes of zeros, packed so often."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed = b"".join(packer.compress(bytes(2**20)) for _ in range(megabytes)) + packer.flush()
    for _ in range(layers - 1):
        packed = gzip.compress(packed)
    return packed


@pytest.mark.parametrize("dialect", HTTP)
@pytest.mark.parametrize(("layers", "encoding"), [(1, "gzip"), (2, "gzip, gzip"), (1, "GZIP"), (1, "identity, gzip")])
def test_an_encoded_answer_is_never_unpacked(dialect: Dialect, layers: int, encoding: str) -> None:
    """Nobody asked for one: 200 MB in 200 KB stay 200 KB, and what was paid for is a maybe."""
    body = bomb(200, layers)
    meaning(sending(200, b"", content_encoding=encoding), dialect)  # what a process loads for its first call is no bomb
    tracemalloc.start()
    try:
        found = meaning(sending(200, body, content_encoding=encoding), dialect)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert found == ("outcome_unknown", "provider_answer_unknown", True)
    assert peak < 16 * 2**20


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate", "zstd", "made-up"])
def test_an_encoded_refusal_is_still_that_refusal(encoding: str) -> None:
    """Its status and its headers are in the clear."""
    outcome, _ = ask(sending(429, b"not packed at all", content_encoding=encoding, retry_after="7"))

    assert isinstance(outcome, CallFailure)
    assert outcome.code == "rate_limited"
    assert outcome.retry_after is not None


def test_an_encoded_stored_answer_proves_nothing() -> None:
    """A lookup that cannot be read neither found nor missed anything."""
    assert look(sending(200, bomb(1, 1), content_encoding="gzip"))[0] is LookupReply.UNREACHABLE


def test_an_answer_said_to_be_unencoded_is_read() -> None:
    """The word for it may stand there."""
    body = json.dumps(completion()).encode()

    assert isinstance(ask(sending(200, body, content_encoding="Identity"))[0], ModelReply)


@pytest.mark.parametrize("wanted", [MANY_DIGITS, "-" + MANY_DIGITS, "1e999", "NaN", "-Infinity", "1.5", "9" * 20])
@pytest.mark.parametrize("dialect", HTTP)
def test_a_number_that_cannot_be_meant_does_not_lose_a_paid_answer(dialect: Dialect, wanted: str) -> None:
    """Its usage is then unknown, and the text that was paid for is the reply."""
    whole = completion() if dialect == "openai" else message("Fine.")
    name = "prompt_tokens" if dialect == "openai" else "input_tokens"
    said = json.dumps({**whole, "usage": {name: "HERE", "completion_tokens": 1, "output_tokens": 1}})
    outcome, _ = ask(answering(200, said.replace('"HERE"', wanted)), dialect=dialect)

    assert isinstance(outcome, ModelReply)
    assert (outcome.text, outcome.usage) == ("Fine.", None)


@pytest.mark.parametrize("dialect", HTTP)
@pytest.mark.parametrize("status", [200, 500])
def test_nesting_without_end_is_no_object(dialect: Dialect, status: int) -> None:
    """The parser's own limit is no crash of the run."""
    assert meaning(answering(status, '{"choices":' + DEEP), dialect)[0] == "outcome_unknown"


@pytest.mark.parametrize("stop", [["end_turn"], {"a": 1}, 5, None])
def test_a_stop_that_is_no_word_is_no_success(stop: object) -> None:
    """Of whatever type it comes."""
    outcome, _ = ask(answering(200, {**message("Hm."), "stop_reason": stop}), dialect="anthropic")

    assert isinstance(outcome, ModelReply)
    assert outcome.finish == "other"


def test_objects_are_read_and_nothing_else_is() -> None:
    """Absurd numbers are absent, believable ones are themselves."""
    assert read_object(b'{"a": %s, "b": 12, "c": -3}' % MANY_DIGITS.encode()) == {"a": None, "b": 12, "c": -3}
    assert [read_object(body) for body in (b"", b"[]", b"\xff", DEEP.encode(), MANY_DIGITS.encode())] == [None] * 5
    assert HttpReply(status=200, headers={}, body=b'{"a":1}').json_object() == {"a": 1}


@pytest.mark.parametrize("dialect", HTTP)
@pytest.mark.parametrize(
    "location",
    [
        *("javascript:1", "http://xn--/", "http://[::1", "http://a:99999999/", "//", ":", "http:", "mailto:"),
        *("http://ex ample/", "http://a..b/", "http://999.999.999.999/", "http://%zz/", "file:///etc/passwd"),
        *("http://\xc2\xad/", "\xff\xfe", "http://" + "a" * 60_000),
    ],
)
def test_a_redirect_to_nowhere_is_a_redirect(dialect: Dialect, location: str) -> None:
    """The client reads its address although it follows none; that the address is broken changes nothing."""
    assert meaning(sending(302, b"", location=location), dialect) == ("permanent", "provider_redirects", True)


def test_a_redirect_s_headers_are_kept_though_its_address_is_broken() -> None:
    """A lookup of it says nothing; a call has the request's id."""
    respond = sending(307, b"", location="javascript:1", X_Request_Id="req-1")
    outcome, _ = ask(respond)

    assert isinstance(outcome, CallFailure)
    assert outcome.request_id == "req-1"
    assert look(respond)[0] is LookupReply.UNREACHABLE


@pytest.mark.parametrize(
    "raw", [b"HTTP/1.1 twohundred\r\n\r\n{}", b"\x00\x01\x02", b"HTTP/1.1 200 OK\r\ncontent-length: -2\r\n\r\n{}"]
)
def test_what_is_no_http_leaves_a_maybe(raw: bytes) -> None:
    """It was sent; whatever the client makes of the answer is not known to be a refusal."""

    async def respond(writer: asyncio.StreamWriter) -> None:
        writer.write(raw)
        await writer.drain()
        writer.close()

    assert meaning(respond) == ("outcome_unknown", "connection_lost", True)


@pytest.mark.parametrize("letter", ['"', "\\", "\n", "\x01", "x", "é", "漢", "🍸"])
def test_an_answer_that_is_taken_can_be_read_back(letter: str) -> None:
    """The longest one, of letters that grow: as JSON in the job, and that as JSON in what a Lambda answers."""
    spelt = json.dumps(letter, ensure_ascii=False)[1:-1]
    body = json.dumps(completion("HERE")).replace("HERE", "x" + spelt * ((ANSWER_LIMIT - 1_000) // len(spelt.encode())))
    outcome, _ = ask(answering(200, body))
    assert isinstance(outcome, ModelReply)
    job = json.dumps({"result": {"text": outcome.text}}, ensure_ascii=False)

    for is_ascii in (True, False):
        answered = json.dumps({"statusCode": 200, "body": job}, ensure_ascii=is_ascii).encode()
        assert len(answered) < LAMBDA_ANSWER * 4 / 5
