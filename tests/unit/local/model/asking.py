"""Ask the stand-in as a client would."""

from typing import Any

import httpx

MODEL = "onceward-stand-in-1"
PROMPT = "The harbour of Bergen was founded in the eleventh century by King Olav of Norway."


def ask(client: httpx.Client, key: str | None = None, prompt: str = PROMPT, **fields: Any) -> httpx.Response:
    """Ask for one completion."""
    headers = {} if key is None else {"Idempotency-Key": key}
    body = {"model": MODEL, "messages": [{"role": "user", "content": prompt}], **fields}
    return client.post("/chat/completions", json=body, headers=headers)


def choice(response: httpx.Response) -> dict[str, Any]:
    """Return the one choice of an answer."""
    chosen: dict[str, Any] = response.json()["choices"][0]
    return chosen
