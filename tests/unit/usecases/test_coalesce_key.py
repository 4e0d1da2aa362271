"""The coalesce key: equal for equal questions, and different as soon as anything that an answer depends on differs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceward.domain.coalescing import AccessScope, CoalesceBy
from onceward.domain.job import Job
from onceward.domain.names import CoalesceKey, TenantId
from onceward.usecases.coalesce_key import LENGTH, coalesce_key
from onceward.usecases.stored_input import StoredDocument, StoredInput
from tests.support.builders import a_job

BY = CoalesceBy(instructions="Be brief.", parameters={"max_output_tokens": 100})
DOCUMENT = StoredDocument(key="documents/acme/D", version="1", sha256="a", size=1, content_type="text/plain")
STORED = StoredInput(input={"question": "why", "of": 1}, documents={"D": DOCUMENT})
ROUTE = "openai https://models.example m-1"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=6,
)


def key_of(
    job: Job | None = None, stored: StoredInput = STORED, by: CoalesceBy = BY, route: str = ROUTE
) -> CoalesceKey:
    """The key of a question that is like all others unless told."""
    return coalesce_key(job or a_job(), stored, by, route)


def document(**changes: Any) -> StoredInput:
    """The same question about another document."""
    return STORED.model_copy(update={"documents": {"D": DOCUMENT.model_copy(update=changes)}})


OTHERS = {
    "tenant": key_of(a_job(tenant_id=TenantId("globex"))),
    "kind": key_of(a_job(kind="image.draw")),
    "kind version": key_of(a_job(kind_version=2)),
    "provider, route or model": key_of(route="openai https://models.example m-2"),
    "instructions": key_of(by=replace(BY, instructions="Be long.")),
    "parameter": key_of(by=replace(BY, parameters={"max_output_tokens": 101})),
    "access scope": key_of(by=replace(BY, scope=AccessScope.CREATOR)),
    "document version": key_of(stored=document(version="2")),
    "document checksum": key_of(stored=document(sha256="b")),
    "document type": key_of(stored=document(content_type="text/html")),
    "no document": key_of(stored=STORED.model_copy(update={"documents": {}})),
    "input": key_of(stored=STORED.model_copy(update={"input": {"question": "how", "of": 1}})),
    "input's type": key_of(stored=STORED.model_copy(update={"input": {"question": "why", "of": True}})),
}


@pytest.mark.failure_mode("F80")
@pytest.mark.parametrize("part", OTHERS)
def test_another_part_is_another_key(part: str) -> None:
    """No part of the list may be forgotten."""
    assert OTHERS[part] != key_of()
    assert len(set(OTHERS.values())) == len(OTHERS)


def test_what_an_answer_does_not_depend_on_is_no_part_of_it() -> None:
    """Another job, creator or instant, the order of members, and whether another would have shared: the same key."""
    others = a_job(created_by="somebody", attempts=2)
    turned = STORED.model_copy(update={"input": {"of": 1, "question": "why"}, "coalesce": False})

    assert key_of(others, turned) == key_of()
    assert len(key_of()) == LENGTH


def test_creators_are_apart_where_the_kind_says_so() -> None:
    """An answer that depends on who asks is shared with nobody else."""
    by = replace(BY, scope=AccessScope.CREATOR)

    assert key_of(a_job(created_by="one"), by=by) != key_of(a_job(created_by="two"), by=by)


@given(one=st.dictionaries(st.text(max_size=3), JSON, max_size=3), two=st.dictionaries(st.text(max_size=3), JSON))
def test_keys_are_equal_exactly_if_inputs_are(one: dict[str, Any], two: dict[str, Any]) -> None:
    """As JSON: to Python, 1 and true are equal, to a model they are not."""
    left, right = (StoredInput(input=each) for each in (one, two))
    is_same = left.model_dump_json() == right.model_dump_json() or repr(_sorted(one)) == repr(_sorted(two))

    assert (key_of(stored=left) == key_of(stored=right)) == is_same


def _sorted(value: Any) -> Any:
    """Members in one order."""
    if isinstance(value, dict):
        return sorted((name, _sorted(inner)) for name, inner in value.items())
    return [_sorted(inner) for inner in value] if isinstance(value, list) else value
