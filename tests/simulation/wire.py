"""The wire under boto3: it hands requests to moto or to the simulation's queues, and loses what a fault says."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.exceptions import ConnectTimeoutError, ReadTimeoutError
from moto.core.botocore_stubber import MockRawResponse
from moto.core.models import botocore_stubber

from onceward.errors import QueueUnavailable
from onceward.usecases.ports import DeadLetter
from onceward.wire.messages import DeadLetterBody, parse_message
from tests.simulation.events import SimQueue
from tests.simulation.faults import Fault

JOBS_URL = "https://sqs.us-east-1.amazonaws.com/000000000000/jobs"
SECRET = "model-key"  # holds the model's key, which is none
DEAD_URL = "https://sqs.us-east-1.amazonaws.com/000000000000/dead"
EVERY_SEND = frozenset({Fault.SDK_LOST_ALL, Fault.SDK_RESET_ALL, Fault.SDK_THROTTLE_ALL})
LOST = frozenset({Fault.SDK_LOST, Fault.SDK_LOST_ALL})
RESET = frozenset({Fault.SDK_RESET, Fault.SDK_RESET_ALL})
THROTTLED = {"__type": "ThrottlingException", "message": "planned"}


class Wire:
    """What every send of a client goes through."""

    def __init__(self) -> None:
        """Nothing strikes."""
        self.queue: SimQueue | None = None
        self._fault: Fault | None = None
        self._sends = 0

    def struck[Result](self, fault: Fault | None, request: Callable[[], Result]) -> Result:
        """Make one request of the SDK, with a fault under it."""
        self._fault, self._sends = fault, 0
        try:
            return request()
        finally:
            self._fault = None

    def __call__(self, event_name: str, request: AWSPreparedRequest, **_: Any) -> AWSResponse | None:
        """One send: its answer, or what the network does instead."""
        self._sends += 1
        strikes = self._fault is not None and (self._sends == 1 or self._fault in EVERY_SEND)
        if not strikes:
            return self._answer(event_name, request)
        if self._fault in RESET:
            raise ConnectTimeoutError(endpoint_url=request.url)
        if self._fault in LOST:
            self._answer(event_name, request)
            raise ReadTimeoutError(endpoint_url=request.url)
        return _response(request, 400, THROTTLED)

    def _answer(self, event_name: str, request: AWSPreparedRequest) -> AWSResponse | None:
        """What the service does and says."""
        target = request.headers.get("X-Amz-Target", b"")
        name = target.decode() if isinstance(target, bytes) else str(target)
        if not name.startswith("AmazonSQS."):
            return botocore_stubber(event_name, request)
        asked = json.loads(_text(request.body))
        try:
            return _response(request, 200, self._ask_queue(name.removeprefix("AmazonSQS."), asked))
        except QueueUnavailable as refused:
            return _response(request, 400, {"__type": "ReceiptHandleIsInvalid", "message": str(refused)})

    def _ask_queue(self, action: str, asked: dict[str, Any]) -> dict[str, str]:
        """The two requests that the adapter makes."""
        assert self.queue is not None
        if action == "ChangeMessageVisibility":
            _now(self.queue.hide(asked["ReceiptHandle"], timedelta(seconds=asked["VisibilityTimeout"])))
            return {}
        assert action == "SendMessage", action
        body = asked["MessageBody"]
        if asked["QueueUrl"] == JOBS_URL:
            self.queue.put(body, group=asked.get("MessageGroupId"))
        else:
            letter = parse_message(body)
            assert isinstance(letter, DeadLetterBody)
            _now(self.queue.bury(DeadLetter(letter.tenant_id, letter.job_id, letter.epoch, letter.reason)))
        return {"MessageId": "message", "MD5OfMessageBody": hashlib.md5(body.encode()).hexdigest()}


def _response(request: AWSPreparedRequest, status: int, body: dict[str, str]) -> AWSResponse:
    """An answer in the SDK's own clothes."""
    raw: Any = MockRawResponse(json.dumps(body))
    headers: Any = {"content-type": "application/x-amz-json-1.0"}
    return AWSResponse(request.url, status, headers, raw)


def _text(body: object) -> str:
    return body.decode() if isinstance(body, bytes) else str(body)


def _now(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine that waits for nothing."""
    try:
        work.send(None)
    except StopIteration:
        return
    raise AssertionError("a queue in memory waits for nothing")
