"""The names of things: identifiers that must not be mixed up, each its own type.

Shapes: ``TenantId`` 1-64 of ``[A-Za-z0-9_.-]``, but not ``.`` or ``..``; ``JobId`` 26 base32 characters, ``-``, 8
base32 characters, and a flight's begins with a ``0``, which is none; ``RunToken`` and ``CreateToken`` 26 base32
characters (128 random bits); ``StepKey`` ``name/version of the kind``; ``CoalesceKey`` 52 base32 characters.
"""

from __future__ import annotations

import base64
import hashlib
import re
from typing import NewType

TenantId = NewType("TenantId", str)
JobId = NewType("JobId", str)
Identity = NewType("Identity", str)
CreateToken = NewType("CreateToken", str)
RunToken = NewType("RunToken", str)
StepKey = NewType("StepKey", str)
DownstreamKey = NewType("DownstreamKey", str)
Fingerprint = NewType("Fingerprint", str)
CallFingerprint = NewType("CallFingerprint", str)
CoalesceKey = NewType("CoalesceKey", str)

IDENTITY_LENGTH = 26  # base32 characters: 130 bits of a SHA-256, beyond any birthday worry
KIND = r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$"  # a job kind's name, as the API's description states it too
KIND_LENGTH = 64  # characters at most
MAX_KIND_VERSION = 9_999  # a step key holds four digits
SUFFIX_LENGTH = 8  # 40 random bits: tells this life of a key from the one that expired before it

_READABLE = 12  # 35 of the job id, an epoch of up to 4 digits, this and the digest make 64
_DIGEST = 10  # base32 characters: 50 bits, for at most 20 steps of a job

_TENANT = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_PATH_STEPS = frozenset({".", ".."})  # a tenant's name is a step of its objects' keys, which clients may normalise
_FLIGHT_MARK = "0"  # no base32 character: whatever a client sends, no identity made of it is a flight's
_JOB_ID = re.compile(r"[0A-Z2-7][A-Z2-7]{25}-[A-Z2-7]{8}")
_STEP = re.compile(r"[A-Za-z0-9_.-]{1,32}/[0-9]{1,4}")


def run_name(token: RunToken) -> str:
    """A run's name for people: eight hexadecimal characters of its token's hash, which nobody can write with."""
    return hashlib.sha256(token.encode()).hexdigest()[:8]


def is_tenant_id(text: str) -> bool:
    """Whether ``text`` can name a tenant; anything else in a token is refused before any read."""
    return _TENANT.fullmatch(text) is not None and text not in _PATH_STEPS


def is_kind_name(text: str) -> bool:
    """Whether ``text`` can name a job kind: what no request may name is registered and written by nobody."""
    return len(text) <= KIND_LENGTH and re.fullmatch(KIND, text) is not None


def is_job_id(text: str) -> bool:
    """Whether ``text`` has the shape of a job id; anything else is answered as an absent job."""
    return _JOB_ID.fullmatch(text) is not None


def is_step_key(text: str) -> bool:
    """Whether ``text`` can be part of a stored key and of a downstream key."""
    return _STEP.fullmatch(text) is not None


def job_id_of(identity: Identity, token: CreateToken) -> JobId:
    """The public id of one life of a key: its identity and the first characters of its create token."""
    return JobId(f"{identity}-{token[:SUFFIX_LENGTH]}")


def flight_identity(token: CreateToken) -> Identity:
    """The identity of a hidden job: made of its own random token, and told from all others by its first character."""
    digest = hashlib.sha256(f"flight/{token}".encode()).digest()
    return Identity(_FLIGHT_MARK + base64.b32encode(digest).decode()[: IDENTITY_LENGTH - 1])


def is_flight_id(job_id: JobId) -> bool:
    """Whether the row of this id is a flight's."""
    return job_id.startswith(_FLIGHT_MARK)


def identity_of(job_id: JobId) -> Identity:
    """The part of a job id under which its row is stored."""
    return Identity(job_id[:IDENTITY_LENGTH])


def downstream_key(job_id: JobId, epoch: int, step: StepKey) -> DownstreamKey:
    """The key a target sees: stable over attempts, new with an epoch; 64 of ``[A-Za-z0-9_-]`` at most.

    A digest of the whole step keeps apart steps whose readable part is cut or spelled alike: a target that dedupes
    must never take one step's call for another's. An epoch after an unknown outcome keeps the old key.
    """
    readable = "".join(one if one.isalnum() else "_" for one in step)[:_READABLE]
    digest = base64.b32encode(hashlib.sha256(step.encode()).digest()).decode()[:_DIGEST]
    return DownstreamKey(f"{job_id}-{epoch}-{readable}-{digest}")
