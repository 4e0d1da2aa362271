"""``text.generate``: a prompt in, text out. The smallest kind, and the one to copy."""

from __future__ import annotations

from datetime import timedelta

from pydantic import BaseModel, ConfigDict, Field

from onceward.domain.policy import KindPolicy, RetryPolicy
from onceward.kinds.answers import whole_text
from onceward.kinds.catalog import KINDS
from onceward.usecases.context import Context

MAX_PROMPT = 100_000  # characters, about 25,000 tokens; more belongs into a document


class TextGenerateInput(BaseModel):
    """What is asked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt: str = Field(min_length=1, max_length=MAX_PROMPT)
    max_output_tokens: int = Field(default=1024, ge=1, le=8192)


class TextGenerateOutput(BaseModel):
    """What the model wrote, and which model it was."""

    text: str
    model: str


POLICY = KindPolicy(
    name="text.generate",
    timeout=timedelta(minutes=3),
    call_timeout=timedelta(minutes=2),
    retry=RetryPolicy(max_attempts=3),
    tariff_micro_usd=10_000,
    max_call_cost=250_000,  # 25,000 tokens in and 8,192 out at $5 and $15 a million
    max_provider_cost=500_000,  # two calls: whoever was charged for two of them in vain does not want a third
)


@KINDS.kind(policy=POLICY, input_model=TextGenerateInput, output_model=TextGenerateOutput)
async def generate(ctx: Context, given: TextGenerateInput) -> TextGenerateOutput:
    """Ask once and hand on what came."""
    messages = [("user", given.prompt)]
    reply = await ctx.model.generate("generate", messages, max_output_tokens=given.max_output_tokens)
    return TextGenerateOutput(text=whole_text(reply), model=reply.model)
