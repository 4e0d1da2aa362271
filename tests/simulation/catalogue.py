"""All stories, found by their files: to add one, add one file.

A file ``tests/simulation/stories_<subject>.py`` that holds ``STORIES``, a tuple of ``Scenario``s, is all that it takes:
every story found here meets every single fault at every boundary, its share of the pairs, drawn runs of more faults,
and the removal of guards. A story that needs more than a ``Scenario``'s data brings it along in the same file:

- ``kinds=register``: a function that registers kinds of its own (``kinds.py`` has those that all know);
- ``also=deed``: a coroutine function over the ``World``, run beside the clients' requests: an operator, a callback;
- ``at_expiry=deed``: one that is done when 90 days are over and TTL may strike, in a story ``new_from`` there;
- ``door=HttpDoor()``, ``by_handlers=True``: clients come in, and functions are entered, where they really are;
- ``judge=check``: a function over the ``Checker``, for what must hold at the end of this story in particular.

A new port method is a boundary at once, with all that can happen to a write; a read is named in ``faults.ALPHABET``.
A new row, item or state is judged by ``checks/``, which read tables and logs and nothing else.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from tests.simulation.scenario import Scenario

ONE_CALL, CANCELLED = WHOLE = ("one-call", "cancel-queued")  # all pairs of each fit into a test run
SAME_KEY, RESET = PARTLY = ("same-key", "reset")  # some parts of each, others with every commit
TARGETS = ("action-header", "action-natural", "action-lookup", "action-nothing")  # so of each kind of target


@cache
def all_stories() -> tuple[Scenario, ...]:
    """Every story of every file, by the files' names; a name is used once."""
    files = sorted(path.stem for path in Path(__file__).parent.glob("stories*.py"))
    found: list[Scenario] = [story for name in files for story in import_module(f"tests.simulation.{name}").STORIES]
    names = [story.name for story in found]
    assert len(set(names)) == len(names), f"two stories of one name: {sorted(names)}"
    return tuple(found)


def story_of(name: str) -> Scenario:
    """The story of that name; raises ``StopIteration`` for none."""
    return next(story for story in all_stories() if story.name == name)
