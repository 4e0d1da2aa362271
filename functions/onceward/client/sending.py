"""Between a story's requests and httpx: how a request is spelt for it, and what came back."""

from __future__ import annotations

from typing import Any

import httpx

from onceward import __version__
from onceward.client.answers import Reply
from onceward.client.request import Request
from onceward.client.target import Target

USER_AGENT = f"onceward-python/{__version__}"
CONNECT_SECONDS = 5.0  # a host that is there accepts within a round trip or two
FORM_FILE = "file"  # S3's name for the part that is the document; its file name is never told


def arguments_of(request: Request, target: Target) -> dict[str, Any]:
    """The arguments of ``httpx.Client.request``. Our token goes to our API only, never along with a form."""
    timeout = httpx.Timeout(target.timeout + request.hold, connect=min(CONNECT_SECONDS, target.timeout))
    told: dict[str, Any] = {"method": request.method, "timeout": timeout, "follow_redirects": False}
    headers = {"user-agent": USER_AGENT, "accept": "application/json", **request.headers}
    if request.document is not None:
        part = (FORM_FILE, request.document.content, request.document.content_type)
        return {**told, "url": request.url, "headers": headers, "data": request.fields, "files": {FORM_FILE: part}}
    headers["authorization"] = target.authorization()
    return {**told, "url": target.base_url + request.path, "headers": headers, "content": request.content}


def reply_of(response: httpx.Response) -> Reply:
    """The answer as stories read it."""
    return Reply(
        response.status_code, {name.lower(): value for name, value in response.headers.items()}, response.content
    )
