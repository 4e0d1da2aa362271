"""What is printed: a job in a few lines for a person, as one line of JSON for a program."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from pydantic import BaseModel, JsonValue

from onceward.client import JobAccepted, JobHistory, JobView
from onceward.client.exceptions import reason_of
from onceward.wire.responses import CostView

# C1 controls and DEL: JSON may hold them as they are, and a terminal may obey them.
_CONTROLS = re.compile("[\x7f-\x9f]")


def say(line: str) -> None:
    """Tell the person, beside the data."""
    print(line, file=sys.stderr, flush=True)


def one_line(model: BaseModel) -> str:
    """A view as the API answered it; a word of a newer server stays as it is."""
    return _escaped(json.dumps(model.model_dump(mode="json", warnings=False), ensure_ascii=False))


def readable(value: JsonValue) -> str:
    """JSON to be read, and still JSON."""
    return _escaped(json.dumps(value, indent=2, ensure_ascii=False))


def standing(job: JobAccepted) -> str:
    """Where a job stands, in a word or three."""
    return f"{job.status} for {job.waiting_for}" if job.waiting_for else str(job.status)


def job_lines(job: JobView) -> Iterator[str]:
    """A job for a person: the facts, then the result."""
    yield f"job       {job.job_id}"
    yield f"kind      {job.kind}"
    yield f"status    {standing(job)}"
    yield f"created   {job.created_at.isoformat()}"
    if job.finished_at is not None:
        yield f"finished  {job.finished_at.isoformat()}"
    if job.erased_at is not None:
        yield f"erased    {job.erased_at.isoformat()}"
    yield f"attempts  {len(job.attempts)}"
    if job.charge_micro_usd is not None:
        yield f"charge    {usd(job.charge_micro_usd)}"
    if job.attempts:
        yield f"cost      {cost(job.provider_cost)}"
    if job.error is not None:
        yield f"error     {reason_of(job.error)}"
    if job.result is not None:
        yield ""
        yield readable(job.result)


def history_lines(history: JobHistory) -> Iterator[str]:
    """Every attempt of a job for a person, each with its calls below it."""
    yield f"job       {history.job_id}  {history.status}  epoch {history.epoch}  cost {cost(history.provider_cost)}"
    for one in history.attempts:
        ended = "going on" if one.ended_at is None else one.ended_at.isoformat()
        why = f"{one.error_class} {one.error_code}" if one.error_class else one.error_code or ""
        yield (
            f"attempt   {one.epoch}.{one.number}  run {one.run or '-'}  {one.started_at.isoformat()} to {ended}"
            f"  {one.stage}  {one.outcome or '-'}  {why}  cost {cost(one.provider_cost)}"
        )
        if one.decision is not None:
            yield f"  why     {one.decision}"
        for call in one.calls:
            usage = call.usage
            tokens = f"{usage.input_tokens} in, {usage.output_tokens} out" if usage else "no usage"
            asked = f"{call.provider or '-'} {call.model or '-'} {call.provider_request_id or '-'}"
            yield f"  call    {call.step}  {call.state}  {asked}  {tokens}  cost {cost(call.provider_cost)}"


def cost(view: CostView) -> str:
    """A cost in dollars: one number, or its bounds; a missing price is said."""
    if view.exact_micro_usd is not None:
        return usd(view.exact_micro_usd)
    return f"{usd(view.low_micro_usd)} to {usd(view.high_micro_usd)}{' (a price is missing)' if view.unpriced else ''}"


def usd(micro_usd: int) -> str:
    """Micro-USD in dollars, exactly."""
    return f"${micro_usd // 1_000_000}.{micro_usd % 1_000_000:06d}"


def listed(head: str, lines: Sequence[str], *, as_json: bool) -> None:
    """Print a list; what its columns are, or that it is empty, is told beside the data and to persons only."""
    if not as_json:
        say(head if lines else "none")
    for line in lines:
        print(line)


def told_facts(facts: Mapping[str, object], *, as_json: bool) -> None:
    """Print some facts: one line of JSON, or one line for each."""
    if as_json:
        print(json.dumps(facts))
        return
    width = max(map(len, facts))
    for name, fact in facts.items():
        print(f"{name.replace('_', ' '):<{width}}  {_fact(fact)}")


def _fact(fact: object) -> str:
    """A fact in words; an empty list and an empty table are none."""
    match fact:
        case bool():
            return "yes" if fact else "no"
        case dict():
            return ", ".join(f"{count} {why}" for why, count in fact.items()) or "none"
        case list():
            return ", ".join(map(str, fact)) or "none"
        case _:
            return str(fact)


def ago(duration: timedelta) -> str:
    """How long ago, in the largest unit that says something."""
    seconds = max(0, round(duration.total_seconds()))
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def _escaped(text: str) -> str:
    """JSON text without characters that a terminal may obey."""
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
