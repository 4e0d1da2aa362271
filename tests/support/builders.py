"""Builders with overridable defaults: a job, an open call, a policy, as tests want to read them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from onceward.domain.job import Job, OpenCall, PresentAttempt
from onceward.domain.money import Cost
from onceward.domain.names import CreateToken, DownstreamKey, Fingerprint, JobId, RunToken, StepKey, TenantId
from onceward.domain.policy import KindPolicy, RetryPolicy
from onceward.domain.records import Answer
from onceward.domain.states import CallState, JobState

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TENANT = TenantId("acme")
IDENTITY = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
JOB_ID = JobId(f"{IDENTITY}-ABCDEFGH")
TOKEN = RunToken("T" * 26)
OTHER_TOKEN = RunToken("U" * 26)
KIND = "text.generate"
STEP = StepKey("generate/1")


def seconds(count: float) -> timedelta:
    """So many seconds."""
    return timedelta(seconds=count)


def a_job(**fields: Any) -> Job:
    """A queued job, a minute old."""
    job = Job(
        tenant_id=TENANT,
        job_id=JOB_ID,
        create_token=CreateToken("C" * 26),
        fingerprint=Fingerprint("f" * 64),
        kind=KIND,
        kind_version=1,
        created_at=NOW - timedelta(minutes=1),
        created_by="client-1",
        deadline_at=NOW + timedelta(days=1),
        expires_at=NOW + timedelta(days=90),
        due=NOW - seconds(30),
    )
    return replace(job, **fields)


def a_running_job(**fields: Any) -> Job:
    """A job in its first attempt, under ``TOKEN``, with a live lease."""
    running: dict[str, Any] = {
        "state": JobState.RUNNING,
        "run_token": TOKEN,
        "lease_until": NOW + seconds(60),
        "attempts": 1,
        "attempt": PresentAttempt(started_at=NOW - seconds(5)),
        "seq": 2,
    }
    return a_job(**{**running, **fields})


def an_open_call(**fields: Any) -> OpenCall:
    """A call of the first attempt, sent a moment ago."""
    call = OpenCall(
        step=STEP,
        epoch=1,
        attempt=1,
        key=DownstreamKey(f"{JOB_ID}-1-generate_1"),
        state=CallState.SENT,
        sent_at=NOW - seconds(4),
        first_sent_at=NOW - seconds(4),
        hard_timeout=seconds(30),
        max_cost=1_000,
    )
    return replace(call, **fields)


def an_answer(**fields: Any) -> Answer:
    """A good answer to ``an_open_call``."""
    answer = Answer(
        tenant_id=TENANT,
        job_id=JOB_ID,
        step=STEP,
        epoch=1,
        attempt=1,
        key=DownstreamKey(f"{JOB_ID}-1-generate_1"),
        state=CallState.SUCCEEDED,
        answered_at=NOW,
        body="{}",
        cost=Cost.exact(250),
        provider="stand-in",
    )
    return replace(answer, **fields)


def a_policy(**fields: Any) -> KindPolicy:
    """Three attempts; a call costs at most a thousand micro-USD."""
    policy = KindPolicy(
        name=KIND,
        timeout=seconds(60),
        call_timeout=seconds(30),
        retry=RetryPolicy(max_attempts=3),
        tariff_micro_usd=5_000,
        max_call_cost=1_000,
    )
    return replace(policy, **fields)
