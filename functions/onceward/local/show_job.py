"""Show a finished job to a person: its analysis, its attempts, what the provider cost and what the user pays."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from onceward.client.exceptions import reason_of
from onceward.wire.responses import AttemptView, CostView, JobView

WIDTH = 110
MOST_ITEMS = 8  # of one list; the whole result is one `curl` away
REFERENCE = "reference"  # where in the document an item stands: {page | paragraph, quote}


def job_lines(job: JobView) -> Iterator[str]:
    """Yield the lines that tell how a job ended."""
    if isinstance(job.result, dict):
        yield from result_lines(job.result)
    if job.erased_at is not None:
        yield "erased: its document and analysis are gone; `make run` uploads and asks anew"
    if job.error is not None:
        yield f"failed: {reason_of(job.error)}"
    yield ""
    for attempt in job.attempts:
        yield attempt_line(attempt)
    yield f"provider's cost: {cost(job.provider_cost)}"
    yield f"user's charge: {'none' if job.charge_micro_usd is None else money(job.charge_micro_usd)}"


def sum_line(jobs: Sequence[JobView]) -> str:
    """Say of several jobs how many succeeded, what all of them cost and what is charged for them."""
    costs = [job.provider_cost for job in jobs]
    exact = [one.exact_micro_usd for one in costs if one.exact_micro_usd is not None]
    spent = CostView(
        exact_micro_usd=sum(exact) if len(exact) == len(costs) else None,
        low_micro_usd=sum(one.low_micro_usd for one in costs),
        high_micro_usd=sum(one.high_micro_usd for one in costs),
        unpriced=any(one.unpriced for one in costs),
    )
    succeeded = sum(job.status == "succeeded" for job in jobs)
    charged = money(sum(job.charge_micro_usd or 0 for job in jobs))
    return f"{len(jobs)} jobs: {succeeded} succeeded; provider's cost {cost(spent)}, users' charge {charged}"


def result_lines(result: Mapping[str, JsonValue]) -> Iterator[str]:
    """Yield one paragraph for a text, and one line for each item of a list."""
    for name, value in result.items():
        if isinstance(value, list):
            yield f"{name}: {'none found' if not value else ''}".rstrip()
            yield from (f"  - {item_text(item)}" for item in value[:MOST_ITEMS])
            if len(value) > MOST_ITEMS:
                yield f"  and {len(value) - MOST_ITEMS} more"
        elif value is not None:
            yield from textwrap.wrap(f"{name}: {value}", WIDTH, subsequent_indent="  ")


def item_text(item: JsonValue) -> str:
    """Say an item of a list in a line: what it is, then where it stands."""
    if not isinstance(item, dict):
        return shortened(str(item))
    facts = shortened(", ".join(str(value) for name, value in item.items() if name != REFERENCE and value is not None))
    reference = item.get(REFERENCE)
    if not isinstance(reference, dict):
        return facts
    place = next((f"{name} {value}" for name, value in reference.items() if name != "quote" and value is not None), "")
    return f"{facts} [{place}]" if place else facts


def attempt_line(attempt: AttemptView) -> str:
    """Say when an attempt ran, how it ended and what it used."""
    ended = attempt.ended_at or attempt.started_at
    seconds = (ended - attempt.started_at).total_seconds()
    used = attempt.usage and f", {attempt.usage.input_tokens} tokens in, {attempt.usage.output_tokens} out"
    why = attempt.error_code and f" ({attempt.error_code})"
    return f"attempt {attempt.number}: {attempt.outcome or 'running'}{why or ''} after {seconds:.1f} s{used or ''}"


def cost(view: CostView) -> str:
    """Say what was spent, or between what bounds it lies."""
    known = view.exact_micro_usd
    amount = f"{money(view.low_micro_usd)} to {money(view.high_micro_usd)}" if known is None else money(known)
    return f"{amount} (a part has no known price)" if view.unpriced else amount


def money(micro_usd: int) -> str:
    """Say micro-USD as dollars, to the last of them."""
    return f"${micro_usd / 1_000_000:.6f}"


def shortened(text: str) -> str:
    """Keep a text on one line."""
    return textwrap.shorten(text, WIDTH, placeholder=" ...")
