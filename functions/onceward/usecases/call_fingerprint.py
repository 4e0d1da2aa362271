"""Fingerprint what a call asks, so that one question's answer is never taken for another's.

A step's key is the same in every attempt and after every deploy; what is asked under it must be so too. The model's
name is no part of it: which model answers is the deployment's choice, and an answer stays one when that changes.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields

from onceward.domain.names import CallFingerprint
from onceward.usecases.ports import ModelRequest

LENGTH = 24  # hexadecimal digits: 96 bits, against accidents and not against enemies


def call_fingerprint(target: str, question: object) -> CallFingerprint:
    """The fingerprint of a question, which is JSON or made of tuples of it, to one kind of target."""
    told = json.dumps([target, question], sort_keys=True, separators=(",", ":"))  # ASCII: half a surrogate is no error
    return CallFingerprint(hashlib.sha256(told.encode()).hexdigest()[:LENGTH])


def model_fingerprint(request: ModelRequest) -> CallFingerprint:
    """The fingerprint of all that a model is told."""
    return call_fingerprint("model", {one.name: getattr(request, one.name) for one in fields(request)})
