"""``document.analyze``: a document in; parties, dates, sums, duties and risks out, each with a reference that holds."""

from __future__ import annotations

from datetime import timedelta

from pydantic import BaseModel, ConfigDict, Field

from onceward.domain.policy import KindPolicy, RetryPolicy
from onceward.kinds.analysis import DocumentAnalysis
from onceward.kinds.analysis_prompt import ANSWERS, messages_for
from onceward.kinds.asking import ask_and_check
from onceward.kinds.catalog import KINDS
from onceward.kinds.extract_document import text_of
from onceward.kinds.references import confirm
from onceward.usecases.context import Context

ID = r"^[A-Za-z0-9_-]{1,128}$"  # of a document, as a client sends it
MAX_OUTPUT_TOKENS = 16_384  # of an analysis with all its quotes, and of what a reasoning model thinks before it


class DocumentAnalyzeInput(BaseModel):
    """Which document."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    document_id: str = Field(pattern=ID)


POLICY = KindPolicy(
    name="document.analyze",
    timeout=timedelta(minutes=12),  # extraction, a call and a second one; with the settle budget inside Lambda's 15
    call_timeout=timedelta(minutes=5),
    retry=RetryPolicy(max_attempts=3),
    tariff_micro_usd=50_000,
    max_call_cost=750_000,  # 100,000 tokens in and 16,384 out at $5 and $15 a million
    max_provider_cost=1_500_000,  # two calls: a document that cost two of them in vain will cost a third in vain
)


@KINDS.kind(
    policy=POLICY,
    input_model=DocumentAnalyzeInput,
    output_model=DocumentAnalysis,
    documents_of=lambda given: (given.document_id,),
    pages_of=lambda analysis: analysis.pages or 0,
    identified_by=("document_id",),
)
async def analyze(ctx: Context, given: DocumentAnalyzeInput) -> DocumentAnalysis:
    """One document, one call, and one more if need be."""
    return await analysis_of(ctx, "analyze", given.document_id)


async def analysis_of(ctx: Context, step: str, document_id: str) -> DocumentAnalysis:
    """Read the text, ask, once more if need be, and give only what the text confirms."""
    text = await text_of(ctx.children, await ctx.documents.read(document_id))
    return await ask_and_check(
        ctx,
        step,
        messages_for(text),
        ANSWERS[text.unit],
        lambda analysis: confirm(analysis, text),
        max_output_tokens=MAX_OUTPUT_TOKENS,
    )
