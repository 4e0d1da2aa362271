"""Where a request is wrong: told by the models' own names and by indices, briefly, and never by what was sent."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from onceward.errors import Fault
from onceward.usecases.pointers import (
    LONGEST_DETAIL,
    LONGEST_POINTER,
    MOST_FAULTS,
    bounded,
    detail_of,
    faults_of,
    field_names,
    pointer,
)


class Cat(BaseModel):
    """One of two shapes."""

    animal: Literal["cat"]


class Dog(BaseModel):
    """The other one."""

    animal: Literal["dog"]


def _talkative(text: str) -> str:
    raise ValueError("no " * 1000)


class Order(BaseModel):
    """A model with a map, a choice, a list and an alias."""

    model_config = ConfigDict(extra="forbid")

    counts: dict[str, int] = {}
    pet: Annotated[Cat | Dog, Field(discriminator="animal")] | None = None
    rows: list[int] = []
    sent: int = Field(default=0, alias="sent/at~")
    spoken: Annotated[str, AfterValidator(_talkative)] = ""
    inner: Order | None = None


def faults(given: Any) -> list[Fault]:
    """What the model says."""
    with pytest.raises(ValidationError) as refused:
        Order.model_validate(given)
    return faults_of(refused.value, Order, "/input")


@pytest.mark.parametrize(
    ("given", "pointers"),
    [
        pytest.param({"CANARY": 1}, ["/input/?"], id="a member that no model knows"),
        pytest.param({"CANARY" * 40_000: 1}, ["/input/?"], id="a very long one"),
        pytest.param({"counts": {"CANARY": "CANARY"}}, ["/input/counts/?"], id="a map's member"),
        pytest.param({"rows": [1, "CANARY"]}, ["/input/rows/1"], id="an index"),
        pytest.param({"pet": {"animal": "CANARY"}}, ["/input/pet"], id="a choice that is none"),
        pytest.param({"sent/at~": "CANARY"}, ["/input/sent~1at~0"], id="an alias, escaped"),
        pytest.param({"inner": {"inner": {"CANARY": 1}}}, ["/input/inner/inner/?"], id="deep down"),
    ],
)
def test_places_are_told_without_a_word_of_the_request(given: Any, pointers: list[str]) -> None:
    """Neither pointer nor detail holds a value, or a name that the client chose."""
    found = faults(given)

    assert [one.pointer for one in found] == pointers
    assert "CANARY" not in repr(found)


def test_a_talkative_validator_is_cut() -> None:
    """A kind's own words are told, as far as they are few."""
    (fault,) = faults({"spoken": "x"})

    assert fault.detail.startswith("Value error, no no")
    assert len(fault.detail) == LONGEST_DETAIL


def test_a_deep_place_is_cut_between_two_steps() -> None:
    """Nesting is bounded, names are not ours: the pointer is the way to the place, as far as it is short."""
    cut = pointer(["inner", 7] * 64, frozenset({"inner"}), "/input")

    assert LONGEST_POINTER - len("/inner") <= len(cut) <= LONGEST_POINTER
    assert set(cut.split("/")) == {"", "input", "inner", "7"}


def test_faults_beyond_the_first_are_counted() -> None:
    """As many as somebody may mend at once, and then how many more there are."""
    some = [Fault(f"/input/rows/{at}", "wrong") for at in range(MOST_FAULTS)]

    assert bounded(some) == tuple(some)
    assert bounded([*some, *some]) == (*some, Fault("", f"{MOST_FAULTS} more"))


def test_a_model_without_a_schema_has_its_own_names() -> None:
    """Some types cannot be told as JSON schema; refusing an input must not fail for that."""

    class Opaque:
        """No JSON."""

    class Odd(BaseModel):
        """A model that holds one."""

        model_config = ConfigDict(arbitrary_types_allowed=True)

        held: Opaque

    assert field_names(Odd) == {"held"}
    assert detail_of({}) == ""
