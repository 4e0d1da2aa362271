"""Prompts without a document get an honest extract, in the shape that was asked for."""

import json

from onceward.local.model.brain.reply import NOTHING, Json, answer

PROMPT = (
    "Please tell me about the harbour. The harbour of Bergen was founded in the eleventh century by King Olav. "
    "Ships from the whole Hanseatic league used the harbour for trade. Hm."
)
PLENTY = 100_000


def test_a_plain_prompt_gets_sentences_of_its_own() -> None:
    """Every sentence of the reply stands in the prompt."""
    reply = answer([("system", "Be brief."), ("user", PROMPT)], {}, PLENTY)

    assert reply
    assert all(part.strip(". ") in PROMPT for part in reply.split(". "))


def test_an_empty_prompt_is_told_so() -> None:
    """There is always some content."""
    assert answer([("user", " \n ")], {}, PLENTY) == NOTHING


def test_json_mode_without_a_document_wraps_the_reply() -> None:
    """The answer is one JSON object, as asked."""
    assert json.loads(answer([("user", "Say hello.")], {"type": "json_object"}, PLENTY)) == {"reply": "Say hello."}


def test_a_foreign_schema_is_filled_with_the_reply_and_empty_values() -> None:
    """A user's own kind runs against the stand-in: its output model is met."""
    schema: Json = {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "mood": {"$ref": "#/$defs/Mood"},
            "score": {"anyOf": [{"type": "number"}, {"type": "null"}]},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "$defs": {"Mood": {"enum": ["calm", "angry"]}},
    }
    asked: dict[str, Json] = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}

    assert json.loads(answer([("user", "Say hello.")], asked, PLENTY)) == {
        "text": "Say hello.",
        "mood": "calm",
        "score": 0,
        "tags": [],
    }


def test_a_schema_that_refers_to_itself_ends() -> None:
    """Recursion is followed to a depth, not for ever."""
    schema: Json = {"$ref": "#/$defs/Node", "$defs": {"Node": {"properties": {"next": {"$ref": "#/$defs/Node"}}}}}

    assert answer([("user", "x")], {"type": "json_schema", "json_schema": {"schema": schema}}, PLENTY).startswith("{")
