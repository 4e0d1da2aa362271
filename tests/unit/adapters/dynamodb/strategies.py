"""Any job and any cold item that the types allow, for round trips."""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from onceward.adapters.instants import EPOCH
from onceward.domain.action_records import ActionWord, RunEntry, Seen, SeenAttempt, Word
from onceward.domain.job import AnswerRef, EarlierSend, Job, OpenCall, PresentAttempt, ResultRef
from onceward.domain.money import Cost
from onceward.domain.names import (
    CallFingerprint,
    CreateToken,
    DownstreamKey,
    Fingerprint,
    JobId,
    RunToken,
    StepKey,
    TenantId,
)
from onceward.domain.records import (
    Answer,
    ColdItem,
    Input,
    PastAttempt,
    ProviderReference,
    Result,
    ReviewRecord,
    Standing,
    Usage,
)
from onceward.domain.states import AttemptOutcome, CallState, JobState, ProviderCancel, Resolution, WaitingFor

# A busy machine is no finding; a job has so many fields that drawing one takes its time.
QUICK = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
WORD = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
MOST_MS = 2**43  # far beyond any job, within thirteen digits

texts = st.text(max_size=40)
counts = st.integers(min_value=0, max_value=10_000)
amounts = st.integers(min_value=0, max_value=2**53)
instants = st.integers(min_value=0, max_value=MOST_MS).map(lambda ms: EPOCH + timedelta(milliseconds=ms))
expiries = st.integers(min_value=0, max_value=MOST_MS // 1000).map(lambda s: EPOCH + timedelta(seconds=s))
durations = st.integers(min_value=0, max_value=10**9).map(lambda ms: timedelta(milliseconds=ms))
tenants = st.text(WORD + ".", min_size=1, max_size=64).map(TenantId)
job_ids = st.text(BASE32, min_size=34, max_size=34).map(lambda text: JobId(f"{text[:26]}-{text[26:]}"))
tokens = st.text(BASE32, min_size=26, max_size=26)
steps = st.text(WORD + ".", min_size=1, max_size=32).map(lambda name: StepKey(f"{name}/1"))

keys = st.text(WORD, min_size=1, max_size=64).map(DownstreamKey)


def _maybe[Value](value: st.SearchStrategy[Value]) -> st.SearchStrategy[Value | None]:
    return st.none() | value


@st.composite
def costs(draw: st.DrawFn) -> Cost:
    """Any bounds that a truth fits between."""
    low = draw(amounts)
    return Cost(low=low, high=low + draw(amounts), unpriced=draw(st.booleans()))


attempts = st.builds(
    PresentAttempt,
    started_at=instants,
    ended_at=_maybe(instants),
    outcome=_maybe(st.sampled_from(AttemptOutcome)),
    error_class=_maybe(texts),
    error_code=_maybe(texts),
    decision=_maybe(texts),
    cost=costs(),
    run=_maybe(texts),
)
earlier_sends = st.builds(
    EarlierSend,
    epoch=counts,
    attempt=counts,
    sent_at=instants,
    max_cost=amounts,
    is_booked=st.booleans(),
    promised=_maybe(texts | st.binary(max_size=4).map(bytes.hex)),
)
open_calls = st.builds(
    OpenCall,
    step=steps,
    epoch=counts,
    attempt=counts,
    key=keys,
    state=st.sampled_from(CallState),
    sent_at=instants,
    first_sent_at=instants,
    hard_timeout=durations,
    max_cost=amounts,
    asked=_maybe((texts | st.binary(max_size=12).map(bytes.hex)).map(CallFingerprint)),
    target=_maybe(texts),
    repeats=_maybe(earlier_sends),
)
answer_refs = st.builds(AnswerRef, epoch=counts, attempt=counts, is_local=st.booleans())

jobs = st.builds(
    Job,
    tenant_id=tenants,
    job_id=job_ids,
    create_token=tokens.map(CreateToken),
    fingerprint=(texts | st.binary(max_size=32).map(bytes.hex)).map(Fingerprint),
    kind=texts,
    kind_version=counts,
    schema_version=st.just(1),
    created_at=instants,
    created_by=texts,
    deadline_at=instants,
    expires_at=expiries,
    traceparent=_maybe(texts),
    seq=counts,
    journals=counts,
    state=st.sampled_from(JobState),
    waiting_for=_maybe(st.sampled_from(WaitingFor)),
    wake_at=_maybe(instants),
    due=_maybe(instants),
    review_until=_maybe(instants),
    epoch=counts,
    attempts=counts,
    lost=counts,
    run_token=_maybe(tokens.map(RunToken)),
    lease_until=_maybe(instants),
    attempt=_maybe(attempts),
    open=st.lists(open_calls, max_size=3).map(tuple),
    accepted=st.dictionaries(steps, answer_refs, max_size=5),
    spent=costs(),
    reserved_micro_usd=_maybe(amounts),
    charge_micro_usd=_maybe(amounts),
    cancel_requested_at=_maybe(instants),
    cancelled_at=_maybe(instants),
    provider_cancel=st.sampled_from(ProviderCancel),
    result=_maybe(st.builds(ResultRef, epoch=counts, attempt=counts, step=_maybe(steps))),
    error_code=_maybe(texts),
    finished_at=_maybe(instants),
)

standings = st.builds(
    Standing,
    state=st.sampled_from(JobState),
    epoch=counts,
    seq=counts,
    attempts=counts,
    spent=costs(),
    reserved_micro_usd=_maybe(amounts),
    charge_micro_usd=_maybe(amounts),
    error_code=_maybe(texts),
    open=st.lists(open_calls, max_size=2).map(tuple),
)

_owner = {"tenant_id": tenants, "job_id": job_ids, "schema_version": st.just(1)}
_body = {"body": _maybe(texts), "blob_key": _maybe(texts)}

cold_items: st.SearchStrategy[ColdItem] = st.one_of(
    st.builds(Input, **_owner, **_body),
    st.builds(
        Answer,
        **_owner,
        **_body,
        step=steps,
        epoch=counts,
        attempt=counts,
        key=texts.map(DownstreamKey),
        state=st.sampled_from(CallState),
        answered_at=instants,
        usage=_maybe(
            st.builds(Usage, input=counts, cached=counts, cache_write=counts, output=counts, reasoning=counts)
        ),
        cost=costs(),
        provider=texts,
        model=_maybe(texts),
        request_id=_maybe(texts),
        error_class=_maybe(texts),
        error_code=_maybe(texts),
        asked=_maybe(texts.map(CallFingerprint)),
    ),
    st.builds(
        ProviderReference,
        **_owner,
        step=steps,
        epoch=counts,
        attempt=counts,
        key=texts.map(DownstreamKey),
        provider=texts,
        reference=texts,
        submitted_at=instants,
    ),
    st.builds(Result, **_owner, **_body, epoch=counts, attempt=counts),
    st.builds(
        SeenAttempt,
        **_owner,
        at=instants,
        token=tokens,
        came_to=st.sampled_from(Seen),
        by=texts,
        attempt=_maybe(counts),
        run_id=_maybe(texts),
        tool_call_id=_maybe(texts),
    ),
    st.builds(
        ActionWord,
        **_owner,
        epoch=counts,
        word=st.sampled_from(Word),
        by=texts,
        at=instants,
        why=texts,
        fingerprint=texts,
    ),
    st.builds(RunEntry, **_owner, operation=job_ids, created_at=instants),
    st.builds(
        PastAttempt,
        **_owner,
        epoch=counts,
        number=counts,
        attempt=attempts,
        open=st.lists(open_calls, max_size=2).map(tuple),
        reasons=_maybe(texts),
    ),
    st.builds(
        ReviewRecord,
        **_owner,
        epoch=counts,
        resolution=st.sampled_from(Resolution),
        by=texts,
        at=instants,
        why=texts,
        digest=_maybe(texts),
        before=standings,
        after=standings,
    ),
)


def an_expiry() -> datetime:
    """Some time far away."""
    return EPOCH + timedelta(days=30_000)
