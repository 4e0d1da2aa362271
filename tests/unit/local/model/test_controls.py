"""What a test may make the stand-in do, and how it shows."""

from concurrent.futures import Future, ThreadPoolExecutor

import httpx
import pytest

from tests.support.model_server import ModelServer
from tests.unit.local.model.asking import MODEL, PROMPT, ask, choice


def test_held_requests_wait_together_until_they_are_released(model: ModelServer) -> None:
    """A gate holds any number at once; the peak says how many there were; nothing is computed before."""
    model.behave(hold="gate")
    with ThreadPoolExecutor(12) as pool, httpx.Client(base_url=model.base_url, timeout=20) as client:
        waiting = [pool.submit(ask, client, f"k{number}") for number in range(12)]
        counts = model.wait_for(held=12)
        assert (counts["peak"], counts["in_flight"], counts["computations"]) == (12, 12, 0)
        model.release("gate", count=5)
        model.wait_for(computations=5)
        assert model.counts()["held"] == {"gate": 7}
        model.release("gate")

        assert {future.result().status_code for future in waiting} == {200}
    assert model.counts()["peak"] == 12


def test_a_caller_that_hangs_up_while_held_is_noticed_and_not_billed(model: ModelServer) -> None:
    """An aborted call shows as such, and computes nothing."""
    model.behave(hold="gate")
    with httpx.Client(base_url=model.base_url, timeout=0.2) as hasty, pytest.raises(httpx.ReadTimeout):
        ask(hasty)
    model.wait_idle()

    assert [seen["outcome"] for seen in model.requests()] == ["caller_left"]
    assert model.counts()["computations"] == 0


def test_a_delayed_answer_comes_after_its_time(model: ModelServer, client: httpx.Client) -> None:
    """The delay is on the provider's side."""
    model.behave(delay_s=0.15, times=1)
    ask(client)

    assert model.requests()[0]["took_s"] >= 0.15


@pytest.mark.parametrize(("stage", "computations"), [("before", 0), ("after", 1)])
@pytest.mark.parametrize("how", [True, "close", "reset"])
def test_a_dropped_connection_is_billed_only_after_processing(
    model: ModelServer, client: httpx.Client, how: object, stage: str, computations: int
) -> None:
    """Both look the same to the caller; only the counts and the lookup know."""
    model.behave(drop=how, stage=stage, times=1)
    with pytest.raises(httpx.TransportError):
        ask(client, "k")

    assert model.counts()["computations"] == computations
    assert (model.look_up("k") is not None) == bool(computations)
    assert model.requests()[0]["outcome"] == f"dropped_{stage}"
    assert ask(client, "k").status_code == 200  # once was all that was asked for


def test_a_connection_can_end_in_the_middle_of_the_answer(model: ModelServer, client: httpx.Client) -> None:
    """Half a body is no answer, and was computed."""
    model.behave(drop="partial", stage="after", times=1)
    with pytest.raises(httpx.RemoteProtocolError, match="without sending complete message body"):
        ask(client)

    assert model.counts()["computations"] == 1


def test_any_status_body_and_headers_are_answered_on_demand(model: ModelServer, client: httpx.Client) -> None:
    """Rate limits, faults and gateways' pages can all be had, before the work or after it."""
    model.behave(status=429, headers={"Retry-After": "7"}, body={"error": {"code": "rate_limit_exceeded"}}, times=1)
    model.behave(status=504, headers={"Content-Type": "text/html"}, body="<h1>timeout</h1>", stage="after", times=1)
    limited, gateway = ask(client), ask(client)

    assert (limited.status_code, limited.headers["retry-after"]) == (429, "7")
    assert limited.json() == {"error": {"code": "rate_limit_exceeded"}}
    assert (gateway.status_code, gateway.text, gateway.headers["content-type"]) == (
        504,
        "<h1>timeout</h1>",
        "text/html",
    )
    assert [seen["computed"] for seen in model.requests()] == [False, True]


@pytest.mark.parametrize(
    ("form", "content", "finish_reason"),
    [
        ("truncated", '{"reply": "The harbour of Bergen was founded in', "length"),
        ("empty_content", "", "stop"),
        ("content_filter", "", "content_filter"),
        ("refusal", None, "stop"),
    ],
)
def test_awkward_answers_are_billed_like_good_ones(
    model: ModelServer, client: httpx.Client, form: str, content: str | None, finish_reason: str
) -> None:
    """Cut, empty, filtered and refused answers come with their finish reason and their usage."""
    model.behave(form=form, times=1)
    response = ask(client, response_format={"type": "json_object"})

    assert choice(response)["message"]["content"] == content
    assert choice(response)["finish_reason"] == finish_reason
    assert (choice(response)["message"]["refusal"] is None) == (form != "refusal")
    assert response.json()["usage"]["completion_tokens"] > 0
    assert model.counts()["computations"] == 1


def test_malformed_json_and_empty_choices_can_be_had(model: ModelServer, client: httpx.Client) -> None:
    """Content that claims to be complete JSON and is not; an answer without any choice."""
    model.behave(form="malformed_json", times=1)
    model.behave(form="empty_choices", times=1)
    malformed, empty = ask(client, response_format={"type": "json_object"}), ask(client)

    assert choice(malformed)["finish_reason"] == "stop"
    with pytest.raises(ValueError, match=r"delimiter|Unterminated|Expecting"):
        httpx.Response(200, content=choice(malformed)["message"]["content"]).json()
    assert empty.json()["choices"] == []


def test_usage_can_be_told_otherwise_or_left_out(model: ModelServer, client: httpx.Client) -> None:
    """Books can be tested with given figures and with none; the counts agree with what was told."""
    model.behave(usage={"prompt_tokens": 1_000, "completion_tokens": 50}, times=1)
    model.behave(usage=False, times=1)
    told, silent = ask(client, "told"), ask(client)

    assert told.json()["usage"]["prompt_tokens"] == 1_000
    assert "usage" not in silent.json()
    assert model.counts()["by_key"]["told"]["prompt_tokens"] == 1_000


def test_equal_keys_are_answered_once_within_the_window(model: ModelServer, client: httpx.Client) -> None:
    """Deduplication replays the stored answer and computes nothing, also for two at the same time."""
    model.behave(dedupe_s=60)
    model.behave(hold="gate", times=2)
    with ThreadPoolExecutor(2) as pool:
        pair: list[Future[httpx.Response]] = [pool.submit(ask, client, "k") for _ in range(2)]
        model.wait_for(held=2)
        model.release()
        answers = [future.result().json() for future in pair]
    third, other = ask(client, "k"), ask(client, "k2")

    assert answers[0] == answers[1] == third.json() != other.json()
    assert third.headers["idempotent-replayed"] == "true"
    counts = model.counts()
    assert (counts["requests"], counts["computations"], counts["replays"]) == (4, 2, 2)


def test_without_a_window_equal_keys_are_computed_again(model: ModelServer, client: httpx.Client) -> None:
    """Most providers ignore the key, and so does the stand-in unless told otherwise."""
    assert ask(client, "k").json()["id"] != ask(client, "k").json()["id"]
    model.behave(dedupe_s=0)
    assert "idempotent-replayed" not in ask(client, "k").headers


def test_a_hidden_answer_appears_only_later(model: ModelServer, client: httpx.Client) -> None:
    """A lookup that finds nothing yet is no proof that nothing was bought."""
    model.behave(lookup_hidden_s=0.3, times=1)
    answered = ask(client, "k")
    assert model.look_up("k") is None

    model.wait_until(lambda _: model.look_up("k") == answered.json(), 10, "the answer in sight")


def test_rules_apply_to_what_they_match_and_as_often_as_they_say(model: ModelServer, client: httpx.Client) -> None:
    """Key, prefix, text, model and metadata choose the requests; `skip` lets some pass first."""
    model.behave(status=500, key="exact", times=1)
    model.behave(status=501, key_prefix="job-", times=1)
    model.behave(status=502, text="MARKER", times=1)
    model.behave(status=503, metadata={"step": "2"}, times=1)
    model.behave(status=504, model=f"{MODEL}-b", times=1, skip=1)

    assert ask(client, "exact").status_code == 500
    assert ask(client, "exact").status_code == 200
    assert ask(client, "job-7/x").status_code == 501
    assert ask(client, prompt=f"{PROMPT} MARKER").status_code == 502
    assert ask(client, metadata={"step": "2"}).status_code == 503
    assert [ask(client, model=f"{MODEL}-b").status_code for _ in range(3)] == [200, 504, 200]


def test_a_rule_that_cannot_be_read_is_refused(model: ModelServer) -> None:
    """A test that misspells its wish fails at once, and not by waiting."""
    with pytest.raises(AssertionError, match="unknown: holds"):
        model.behave(holds="gate")
    with pytest.raises(AssertionError, match="form is one of"):
        model.behave(form="strange")
