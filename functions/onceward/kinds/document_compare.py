"""``document.compare``: two documents in; what they state differently out, each difference with references that hold.

Three steps: both documents are analysed at once, a call each, then one call compares what was found. A worker that dies
between any two of them costs time: what was answered is never bought again.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

from pydantic import BaseModel, ConfigDict, Field

from onceward.domain.policy import KindPolicy, RetryPolicy
from onceward.kinds import comparison_prompt
from onceward.kinds.asking import ask_and_check
from onceward.kinds.catalog import KINDS
from onceward.kinds.comparison import DocumentComparison, NamedComparison, resolve
from onceward.kinds.document_analyze import ID, MAX_OUTPUT_TOKENS, analysis_of
from onceward.usecases.context import Context


class DocumentCompareInput(BaseModel):
    """Which documents."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    first_document_id: str = Field(pattern=ID)
    second_document_id: str = Field(pattern=ID)


POLICY = KindPolicy(
    name="document.compare",
    timeout=timedelta(minutes=13),  # two extractions, and two calls after another; what is left, the next attempt does
    call_timeout=timedelta(minutes=4),
    retry=RetryPolicy(max_attempts=3),
    tariff_micro_usd=150_000,
    max_call_cost=750_000,  # as of document.analyze, whose question is the larger one
    max_provider_cost=3_000_000,  # four calls: three, and one that was asked again
)


@KINDS.kind(
    policy=POLICY,
    input_model=DocumentCompareInput,
    output_model=DocumentComparison,
    documents_of=lambda given: (given.first_document_id, given.second_document_id),
)
async def compare(ctx: Context, given: DocumentCompareInput) -> DocumentComparison:
    """Analyse both at once, then compare."""
    first, second = await asyncio.gather(
        analysis_of(ctx, "first", given.first_document_id), analysis_of(ctx, "second", given.second_document_id)
    )
    return await ask_and_check(
        ctx,
        "compare",
        comparison_prompt.messages_for(first, second),
        NamedComparison,
        lambda named: resolve(named, first, second),
        max_output_tokens=MAX_OUTPUT_TOKENS,
    )
