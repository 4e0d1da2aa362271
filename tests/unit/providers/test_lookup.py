"""What a lookup by key is taken for: an answer, its failure, "not found", or nothing."""

from __future__ import annotations

import pytest

from onceward.domain.records import Usage
from onceward.domain.recovery import LookupReply
from onceward.errors import CallFailure
from onceward.usecases.ports import ModelReply
from tests.unit.providers.asking import KEY, SECRET, SOON, look
from tests.unit.providers.scripted_server import Respond, answering, completion, error, hang_up, reset, silence


def test_a_found_answer_is_read_as_the_first_one_would_have_been() -> None:
    """A late answer is evidence, with its usage."""
    reply, seen = look(answering(200, completion("Late.")))

    assert isinstance(reply, ModelReply)
    assert (reply.text, reply.usage) == ("Late.", Usage(input=12, output=5))
    assert seen.heads[0].startswith(f"GET /v1/lookup/{KEY} HTTP/1.1\r\n")
    assert seen.header("authorization") == f"Bearer {SECRET}"


def test_a_found_refusal_ends_the_maybe_with_its_usage() -> None:
    """The call did happen, failed, and was charged."""
    failure, _ = look(answering(200, completion(None, refusal="No.")))

    assert isinstance(failure, CallFailure)
    assert (failure.code, failure.usage) == ("model_refused", Usage(input=12, output=5))


def test_only_the_lookup_s_own_word_means_not_found() -> None:
    """The 404 of a wrong address would otherwise be proof that nothing was bought."""
    assert look(answering(404, error("answer_not_found")))[0] is LookupReply.NOT_FOUND


@pytest.mark.parametrize(
    "respond",
    [
        answering(404, "<html>"),
        answering(404, error("unknown_url")),
        answering(404, {"error": "not found"}),
        answering(401, error("invalid_api_key")),
        answering(500, error("answer_not_found")),
        answering(200, "<html>"),
        answering(200, error("answer_not_found")),
        answering(200, completion(), cut=3),
        hang_up,
        reset,
    ],
)
def test_whatever_else_comes_back_says_nothing(respond: Respond) -> None:
    """Unreachable is asked again later; it never means that the call did not happen."""
    assert look(respond)[0] is LookupReply.UNREACHABLE


def test_a_lookup_without_an_answer_says_nothing() -> None:
    """It is a read: however it ends, it leaves no maybe of its own."""
    assert look(silence, SOON)[0] is LookupReply.UNREACHABLE
