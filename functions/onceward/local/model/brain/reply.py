"""Answer a prompt: analyse its document, or reply with the sentences of it that weigh most."""

import json
from collections.abc import Mapping, Sequence
from copy import copy

from onceward.local.model.brain.analysis import Analysis, analyse, by_paragraph, dump, fit
from onceward.local.model.brain.comparison import compare, find_lists
from onceward.local.model.brain.pages import find_pages, has_paragraphs
from onceward.local.model.brain.sentences import split_sentences
from onceward.local.model.brain.summary import choose_sentences

type Json = bool | int | float | str | list["Json"] | dict[str, "Json"] | None

_MAX_PROMPT = 2_000_000  # characters read of a prompt that holds no document
_REPLY_SENTENCES = 3
NOTHING = "There is no sentence to extract."
_EMPTIEST: Mapping[str, Json] = {"integer": 0, "number": 0, "boolean": False, "array": [], "object": {}}
_MAX_DEPTH = 8  # of a JSON schema followed


def answer(messages: Sequence[tuple[str, str]], response_format: Mapping[str, Json], most_characters: int) -> str:
    """Return the content for (role, text) messages; the same messages always get the same answer."""
    prompt = "\n".join(text for role, text in messages if role == "user")
    kind = response_format.get("type", "text")
    schema = _schema_of(response_format)
    lists = find_lists(prompt)
    if lists and _asks_for(schema, {"summary", "differences"}):
        return compare(*lists)
    pages = find_pages(prompt)
    if pages and (kind == "json_object" or _asks_for_analysis(schema)):
        found = fit(analyse(pages), most_characters)
        return dump(by_paragraph(found) if has_paragraphs(prompt) else found)
    reply = extract(prompt) or NOTHING
    if kind == "json_schema":
        return json.dumps(_fill(schema, schema, reply, 0), ensure_ascii=False)
    return json.dumps({"reply": reply}, ensure_ascii=False) if kind == "json_object" else reply


def _asks_for_analysis(schema: Json) -> bool:
    """Tell the schema of `document.analyze` by its fields; another kind's schema is answered generically."""
    return _asks_for(schema, set(Analysis.__annotations__))


def _asks_for(schema: Json, fields: set[str]) -> bool:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return isinstance(properties, dict) and properties.keys() == fields


def extract(prompt: str) -> str:
    """Return the prompt's weightiest sentences, in their order; a short prompt comes back whole."""
    lines = [" ".join(line.split()) for line in prompt[:_MAX_PROMPT].splitlines() if line.strip()]
    starts = [0]
    for line in lines[:-1]:
        starts.append(starts[-1] + len(line) + 1)
    text = " ".join(lines)
    sentences = [text[start:end] for start, end in split_sentences(text, starts)]
    chosen = choose_sentences(sentences, _REPLY_SENTENCES)
    return " ".join(sentences[index] for index in chosen)


def _schema_of(response_format: Mapping[str, Json]) -> Json:
    wrapper = response_format.get("json_schema")
    return wrapper.get("schema") if isinstance(wrapper, dict) else None


def _fill(schema: Json, root: Json, reply: str, depth: int) -> Json:
    """Shape the reply to a foreign schema: text where it wants text, else the emptiest value it allows."""
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return {"reply": reply} if depth == 0 else None
    if isinstance(reference := schema.get("$ref"), str):
        return _fill(_defined(root, reference), root, reply, depth + 1)
    if isinstance(choices := schema.get("anyOf"), list) and choices:
        return _fill(choices[0], root, reply, depth + 1)
    if "const" in schema:
        return schema["const"]
    if isinstance(options := schema.get("enum"), list) and options:
        return options[0]
    properties = schema.get("properties")
    if isinstance(properties, dict):
        return {name: _fill(part, root, reply, depth + 1) for name, part in properties.items()}
    kind = schema.get("type")
    return reply if kind == "string" else copy(_EMPTIEST.get(kind)) if isinstance(kind, str) else None


def _defined(root: Json, reference: str) -> Json:
    """Follow `#/$defs/Name`."""
    definitions = root.get("$defs") if isinstance(root, dict) else None
    return definitions.get(reference.rpartition("/")[2]) if isinstance(definitions, dict) else None
