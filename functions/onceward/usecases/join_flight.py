"""Join the flight that works on this job's question, or start it: one transaction of both rows.

It is the worker's first run that joins, not the create: only the worker knows the exact model and the way to it, the
documents have their versions by then, and whoever asked was authorised before the job was stored. The tenant is part
of the key and of every row's name, so no join can leave it. A create costs what it did, whatever its kind.

The key's pointer is a hint. Which flight can be joined is decided by the flight's own row, in the write: a pointer
that is behind leads to a refusal, and the refused row tells what to do next.

=====================================  ====================================================================
we die                                 what is left, and who goes on
=====================================  ====================================================================
before the transaction                 a running participant without a flight: taken over, as ever
after it, before the flight is run     a queued flight: the participant's message finds it, or the sweeper does
=====================================  ====================================================================
"""

from __future__ import annotations

from onceward.domain.conditions import IsJoinable
from onceward.domain.creating import Birth
from onceward.domain.flights import Boarding, Start, is_own_join, join_change, join_ops, new_flight, start_ops
from onceward.domain.job import Job
from onceward.domain.names import CoalesceKey, CreateToken, Fingerprint, JobId, flight_identity
from onceward.domain.policy import KindPolicy
from onceward.domain.records import INPUT_INLINE_LIMIT, Input, Participant
from onceward.domain.states import JobState
from onceward.domain.transaction import Op, Refused, UpdateRow
from onceward.usecases.bodies import store_body, take_back
from onceward.usecases.coalesce_key import coalesce_key
from onceward.usecases.deps import Deps
from onceward.usecases.held_job import HeldJob
from onceward.usecases.run_kind import load_input
from onceward.usecases.stored_input import StoredInput

FLOWN_BY = "flight"  # a flight's creator: nobody's wish alone
MOST_TRIES = 4  # each lost race means that another flight of this key began or ended; then the job runs on its own


async def join_flight(deps: Deps, held: HeldJob, policy: KindPolicy) -> bool:
    """Let the held job go into a flight; ``False``: it is to run on its own.

    A job that has sent something goes on with that; a job whose request said ``coalesce: false`` wants its own answer.
    Raises ``StopRun`` for a cancel and ``LeaseLost``, as every write of a run.
    """
    job, by = held.job, policy.coalesce
    if by is None or job.is_flight or job.open or job.accepted:
        return False
    stored = await load_input(deps, job)
    if not stored.coalesce:
        return False
    key = coalesce_key(job, stored, by, deps.provider.route)
    async with deps.shared.turn(key):  # the jobs of one batch would only get in each other's way
        held.boarding = await _boarded(deps, held, policy, stored, key)
    return held.boarding is not Boarding.BUSY


async def _boarded(deps: Deps, held: HeldJob, policy: KindPolicy, stored: StoredInput, key: CoalesceKey) -> Boarding:
    """Join or start, and again if another was quicker."""
    for _ in range(MOST_TRIES):
        seen = await deps.store.get_flight(held.tenant_id, key)
        boarding = None if seen is None else await _join(deps, held, seen)
        boarding = boarding or await _start(deps, held, policy, stored, key, seen)
        if boarding is not None:
            return boarding
    return Boarding.BUSY


async def _join(deps: Deps, held: HeldJob, flight_id: JobId) -> Boarding | None:
    """Join that flight; ``None``: it can be joined no more, and the next one may take its place."""
    now, most = deps.clock.now(), deps.flight_limits.participants
    ops = join_ops(_joining(deps, held, flight_id), _participant(deps, held, flight_id), most, now, held.job.expires_at)
    reply = await _board(deps, held, flight_id, ops)
    if reply is None:
        return Boarding.JOINED
    flight = reply.row
    if flight is None or flight.job_id != flight_id:
        return None
    held.crashed = flight_id if flight.state is JobState.FAILED else None
    # Refused although it could be joined but for its number: it is full, and the job runs on its own.
    return Boarding.BUSY if IsJoinable((flight.participants or 0) + 1).holds(flight) else None


async def _start(
    deps: Deps, held: HeldJob, policy: KindPolicy, stored: StoredInput, key: CoalesceKey, seen: JobId | None
) -> Boarding | None:
    """Start the key's next flight; ``None``: somebody else has. A stage that allows none is asked for none."""
    if deps.flight_limits.flights <= 0:
        return Boarding.BUSY
    flight = _new_flight(deps, held.job, policy, key)
    body = await store_body(
        deps.blob, flight.tenant_id, flight.job_id, "input", stored.model_dump_json(), limit=INPUT_INLINE_LIMIT
    )
    given = Input(tenant_id=flight.tenant_id, job_id=flight.job_id, body=body.body, blob_key=body.blob_key)
    start = Start(flight=flight, given=given, key=key, seen=seen, most_flights=deps.flight_limits.flights)
    ops = start_ops(_joining(deps, held, flight.job_id), _participant(deps, held, flight.job_id), start)
    reply = await _board(deps, held, flight.job_id, ops)
    if reply is None:
        return Boarding.STARTED
    await take_back(deps.blob, given.blob_key)  # no row can name it: only our own write would have
    return Boarding.BUSY if reply.is_count_refused and not reply.is_pointer_refused else None


async def _board(deps: Deps, held: HeldJob, flight_id: JobId, ops: list[Op]) -> Refused | None:
    """One transaction; ``None``: applied. A refusal by our own row is judged as every write of the run is."""
    joining = ops[0]
    if not isinstance(joining, UpdateRow):
        raise TypeError("a join begins with the participant's row")
    reply = await deps.store.transact(ops, deps.ids.token())
    if isinstance(reply, Refused):
        row = reply.row
        if row is None or row.job_id != held.job_id:
            return reply
        held.job = row if is_own_join(row, held.token) and row.flight == flight_id else held.judge(reply)
        return None
    held.job = joining.change.apply(held.job)
    return None


def _joining(deps: Deps, held: HeldJob, flight_id: JobId) -> UpdateRow:
    """The participant's own row."""
    change = join_change(held.job, held.token, flight_id, deps.clock.now(), deps.timing)
    return UpdateRow(held.tenant_id, held.job_id, change)


def _participant(deps: Deps, held: HeldJob, flight_id: JobId) -> Participant:
    """The item by which the flight finds it again."""
    return Participant(tenant_id=held.tenant_id, job_id=flight_id, participant=held.job_id, joined_at=deps.clock.now())


def _new_flight(deps: Deps, job: Job, policy: KindPolicy, key: CoalesceKey) -> Job:
    """A hidden job whose identity nobody can ask for."""
    token = CreateToken(deps.ids.token())
    birth = Birth(
        tenant_id=job.tenant_id,
        identity=flight_identity(token),
        token=token,
        fingerprint=Fingerprint(key),
        created_by=FLOWN_BY,
        traceparent=job.traceparent,
        now=deps.clock.now(),
    )
    return new_flight(birth, policy, deps.timing, job.kind_version)
