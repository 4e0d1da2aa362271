"""The tree of exceptions: what a program tells them apart by."""

import pytest
from pydantic import ValidationError

from onceward import client
from onceward.client import ClientError, JobView
from tests.unit.client.test_stories import a_view

CLASSES = [one for one in vars(client).values() if isinstance(one, type) and issubclass(one, ClientError)]


def test_each_exception_has_its_own_code() -> None:
    """A program may go by the code as well as by the class."""
    assert len({one.code for one in CLASSES}) == len(CLASSES) == 14
    assert all(one.__doc__ for one in CLASSES)


def test_everything_public_is_named() -> None:
    """``__all__`` is what the package offers, in order."""
    offered = [name for name, one in vars(client).items() if getattr(one, "__module__", "").startswith("onceward.")]

    assert sorted(client.__all__) == list(client.__all__) == sorted(offered)


def test_writer_stays_strict() -> None:
    """Only the client's reading takes unknown words: a server that says one has a bug."""
    with pytest.raises(ValidationError):
        JobView.model_validate(a_view(status="hibernating"))
