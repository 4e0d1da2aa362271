"""``text.generate``: what is asked, and what is handed on."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from onceward.errors import JobFailure
from onceward.kinds.text_generate import MAX_PROMPT, TextGenerateInput, TextGenerateOutput, generate
from tests.unit.kinds.fake_context import FakeContext, FakeModel, outcome, reply


def test_a_prompt_is_asked_once_and_its_text_handed_on() -> None:
    """One step, with the limit that was asked for."""
    context = FakeContext(FakeModel(lambda _: reply("Fine.")))
    output = outcome(generate(context, TextGenerateInput(prompt="How are you?", max_output_tokens=7)))

    assert output == TextGenerateOutput(text="Fine.", model="m-1")
    (asked,) = context.model.asked
    assert (asked.step, asked.messages, asked.max_output_tokens) == ("generate", [("user", "How are you?")], 7)


def test_an_unfinished_answer_is_no_result() -> None:
    """Half a text is not what was ordered."""
    context = FakeContext(FakeModel(lambda _: reply("Fi", "other")))
    with pytest.raises(JobFailure) as caught:
        outcome(generate(context, TextGenerateInput(prompt="x")))

    assert caught.value.code == "invalid_output"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"prompt": ""},
        {"prompt": "x" * (MAX_PROMPT + 1)},
        {"prompt": "x", "max_output_tokens": 0},
        {"prompt": "x", "max_output_tokens": 8193},
        {"prompt": "x", "model": "another"},
    ],
)
def test_an_input_outside_its_bounds_is_refused(body: dict[str, object]) -> None:
    """Before anything is stored or reserved."""
    with pytest.raises(ValidationError):
        TextGenerateInput.model_validate(body)
