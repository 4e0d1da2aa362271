"""Every answer that was met in the wild, through a real socket: one send, the right class, the right usage."""

from __future__ import annotations

import asyncio
import socket

import pytest

from onceward.errors import CallFailure
from tests.unit.providers.asking import ENOUGH, KEY, REQUEST, SECRET, SOON, Dialect, ask, speaking
from tests.unit.providers.chat_cases import OPENAI
from tests.unit.providers.claude_cases import ANTHROPIC, BEDROCK
from tests.unit.providers.scripted_server import answering, hang_up, reset, silence
from tests.unit.providers.wire_bodies import CDN_PAGE, JSON, RETRY_MARKERS, Case

CASES = (*OPENAI, *ANTHROPIC, *BEDROCK)
DIALECTS: tuple[Dialect, ...] = ("openai", "anthropic", "bedrock")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_an_answer_is_taken_for_what_it_is(case: Case) -> None:
    """Class, code, usage; one connection and one request, without the marks of anybody's retries."""
    outcome, seen = ask(answering(case.status, case.body, {**JSON, **case.headers}), dialect=case.dialect)

    assert (seen.connections, len(seen.heads)) == (1, 1)
    assert [seen.header(name) for name in RETRY_MARKERS] == [None] * len(RETRY_MARKERS)
    assert seen.header("amz-sdk-request") in {None, "attempt=1; max=1"}
    if isinstance(outcome, CallFailure):
        assert (case.error_class, case.code, True) == (outcome.error_class, outcome.code, outcome.was_sent)
        assert (outcome.model is None) == (case.usage is None)
    else:
        assert (case.error_class, case.code) == ("", outcome.finish)
    assert case.usage == outcome.usage


@pytest.mark.parametrize("case", [case for case in CASES if case.error_class], ids=lambda case: case.id)
def test_nothing_that_the_provider_says_is_kept(case: Case) -> None:
    """A message may hold a prompt, a page or a key: what is kept is a status and a code."""
    outcome, _ = ask(answering(case.status, case.body, {**JSON, **case.headers}), dialect=case.dialect)

    assert isinstance(outcome, CallFailure)
    kept = f"{outcome!r} {outcome.detail}"
    assert not [word for word in ("Secret", "balance", "215432", "identifier", SECRET) if word in kept]
    assert len(outcome.detail) < 80
    assert outcome.__cause__ is None
    assert outcome.__context__ is None


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("respond", [hang_up, reset], ids=["closed", "reset"])
def test_a_connection_lost_after_the_send_is_a_maybe(dialect: Dialect, respond: object) -> None:
    """And it is not sent again by the client: that is the journal's decision."""
    outcome, seen = ask(respond, dialect=dialect)  # type: ignore[arg-type]

    assert isinstance(outcome, CallFailure)
    assert (outcome.error_class, outcome.was_sent, len(seen.heads)) == ("outcome_unknown", True, 1)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_silent_provider_is_a_maybe_at_the_hard_timeout(dialect: Dialect) -> None:
    """PR-62: the request was sent, and nothing is known of it; one send."""
    outcome, seen = ask(silence, SOON, dialect)

    assert isinstance(outcome, CallFailure)
    assert (outcome.error_class, outcome.code, outcome.was_sent) == ("outcome_unknown", "provider_timed_out", True)
    assert len(seen.heads) == 1


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_server_page_where_json_was_due_is_a_maybe(dialect: Dialect) -> None:
    """PR-56 at every provider: short, unclassified by anything but its status, and not the page."""
    outcome, _ = ask(answering(200, CDN_PAGE, {"content-type": "text/html"}), ENOUGH, dialect)

    assert isinstance(outcome, CallFailure)
    assert outcome.error_class == "outcome_unknown"
    assert "Secret" not in repr(outcome) + outcome.detail


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_provider_that_is_not_there_was_sent_nothing(dialect: Dialect) -> None:
    """PR-63: not connected is not sent, so it costs nothing and is tried again."""

    async def run() -> CallFailure:
        with socket.socket() as taken:  # bound and not listening: nobody else gets this port, and nobody answers
            taken.bind(("127.0.0.1", 0))
            async with speaking(dialect, f"http://127.0.0.1:{taken.getsockname()[1]}/v1") as provider:
                with pytest.raises(CallFailure) as caught:
                    await provider.generate(REQUEST, KEY, ENOUGH)
                return caught.value

    failure = asyncio.run(run())
    assert (failure.error_class, failure.code, failure.was_sent) == ("transient", "provider_unreachable", False)
