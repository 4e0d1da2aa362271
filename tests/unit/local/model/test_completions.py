"""What a client of the stand-in sees, and what is remembered of it."""

import httpx
import pytest

from tests.support.model_server import ModelServer
from tests.unit.local.model.asking import MODEL, PROMPT, ask, choice


def test_a_completion_has_the_shape_clients_expect(model: ModelServer, client: httpx.Client) -> None:
    """Ids, choices, usage with its details, and a request id are all there."""
    response = ask(client, metadata={"job": "j1"}, temperature=0, store=False, max_completion_tokens=500)
    body = response.json()

    assert response.status_code == 200
    assert body["object"] == "chat.completion"
    assert body["model"] == MODEL
    assert choice(response)["message"] == {"role": "assistant", "content": PROMPT, "refusal": None}
    assert choice(response)["finish_reason"] == "stop"
    usage = body["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert usage["prompt_tokens_details"] == {"cached_tokens": 0}
    assert usage["completion_tokens_details"] == {"reasoning_tokens": 0}
    assert response.headers["x-request-id"] == model.requests()[0]["request_id"]


def test_it_says_everywhere_that_it_is_a_stand_in(model: ModelServer, client: httpx.Client) -> None:
    """Health, model list, answers and the server header cannot be mistaken for a language model's."""
    assert "not a language model" in httpx.get(f"{model.url}/health").json()["notice"]
    assert [entry["id"] for entry in client.get("/models").json()["data"]] == [MODEL]
    answered = ask(client)
    assert "not a language model" in answered.json()["system_fingerprint"]
    assert MODEL in answered.headers["server"]


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        (b"{", 400, None),
        (b"[]", 400, None),
        (b'{"messages": []}', 400, None),
        (b'{"model": "onceward-stand-in-1"}', 400, None),
        (b'{"model": "onceward-stand-in-1", "messages": [1]}', 400, None),
        (b'{"model": "gpt-5-mini", "messages": [{"role": "user", "content": "x"}]}', 404, "model_not_found"),
        (b'{"model": "onceward-stand-in-1", "messages": [{"role": "user"}], "stream": true}', 400, "unsupported_value"),
        (b'{"model": "onceward-stand-in-1", "messages": [{"role": "user"}], "max_tokens": 0}', 400, None),
    ],
)
def test_a_wrong_request_gets_an_error_of_the_api(
    model: ModelServer, client: httpx.Client, content: bytes, status: int, code: str | None
) -> None:
    """Errors have the API's shape, are counted as requests and compute nothing."""
    response = client.post("/chat/completions", content=content)

    assert (response.status_code, response.json()["error"]["code"]) == (status, code)
    assert response.json()["error"]["type"] == "invalid_request_error"
    assert (model.counts()["requests"], model.counts()["computations"]) == (1, 0)


def test_unknown_paths_and_bodies_without_length_are_refused(model: ModelServer, client: httpx.Client) -> None:
    """Nothing else is served, and no body is read that may never end."""
    assert client.get("/embeddings").json()["error"]["code"] == "unknown_url"
    assert client.post("/chat/completions", content=iter([b"{}"])).status_code == 413


def test_counts_are_kept_in_total_by_key_and_by_model(model: ModelServer, client: httpx.Client) -> None:
    """Requests, computations and usage can be asked for from each side."""
    for key, name in (("a", MODEL), ("a", MODEL), ("b", f"{MODEL}-other"), (None, MODEL)):
        ask(client, key, model=name)
    counts = model.counts()

    assert (counts["requests"], counts["computations"]) == (4, 4)
    assert {key: one["requests"] for key, one in counts["by_key"].items()} == {"a": 2, "b": 1, "": 1}
    assert {name: one["computations"] for name, one in counts["by_model"].items()} == {MODEL: 3, f"{MODEL}-other": 1}
    assert counts["prompt_tokens"] == sum(one["prompt_tokens"] for one in counts["by_key"].values()) > 0


def test_requests_are_seen_without_their_contents(model: ModelServer, client: httpx.Client) -> None:
    """What tells a client's own retries is kept; prompts and credentials are not."""
    client.post(
        "/chat/completions",
        json={"model": MODEL, "messages": [{"role": "user", "content": PROMPT}], "metadata": {"job": "j1"}},
        headers={"Idempotency-Key": "k", "Authorization": "Bearer made-up", "X-Stainless-Retry-Count": "2"},
    )
    (seen,) = model.requests()

    assert (seen["key"], seen["metadata"], seen["authorised"]) == ("k", {"job": "j1"}, True)
    assert seen["headers"]["x-stainless-retry-count"] == "2"
    assert (seen["outcome"], seen["status"], seen["computed"]) == ("answered", 200, True)
    assert "harbour" not in str(seen)
    assert "made-up" not in str(seen)


def test_an_answer_is_looked_up_by_its_key(model: ModelServer, client: httpx.Client) -> None:
    """The stored answer comes back whole; an unknown key says so by its code."""
    answered = ask(client, "a/b c")

    assert model.look_up("a/b c") == answered.json()
    assert client.get("/lookup/unknown").json()["error"]["code"] == "answer_not_found"
    assert model.counts()["lookups"] == 2


def test_a_token_limit_cuts_the_answer_and_says_so(model: ModelServer, client: httpx.Client) -> None:
    """As with a model, the limit ends the text and is the reason given."""
    response = ask(client, max_tokens=3)

    assert choice(response) | {"logprobs": None} == {
        "index": 0,
        "message": {"role": "assistant", "content": PROMPT[:12], "refusal": None},
        "logprobs": None,
        "finish_reason": "length",
    }
    assert response.json()["usage"]["completion_tokens"] == 3


def test_half_a_surrogate_pair_does_not_break_the_answer(model: ModelServer, client: httpx.Client) -> None:
    """Whatever JSON can carry can be asked."""
    body = '{"model": "onceward-stand-in-1", "messages": [{"role": "user", "content": "Half a pair \\ud83d here."}]}'

    assert client.post("/chat/completions", content=body).status_code == 200
    assert model.counts()["in_flight"] == 0
