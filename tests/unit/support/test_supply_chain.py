"""What the locks bring in can be told without a network, and a feed that does not answer is no clean bill."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from tests.support.supply_chain import LOCKS, UNREACHABLE, audit, write_bill

LOCKED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^ ;\\]+)", re.MULTILINE)

SPEAKS_FOR_ALL = "lambda"  # one tool writes every bill in one shape: what ships is held to its schema here


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_locked_package_is_in_the_bill_with_its_hashes(lock: Path, tmp_path: Path) -> None:
    """Name, version and each hash that an install may be held to."""
    bill = write_bill(lock, tmp_path, is_held_to_schema=lock.stem == SPEAKS_FOR_ALL)
    components = json.loads(bill.read_text(encoding="utf-8"))["components"]
    text = lock.read_text(encoding="utf-8")
    listed = {hash_["content"] for one in components for ref in one["externalReferences"] for hash_ in ref["hashes"]}

    assert sorted((one["name"], one["version"]) for one in components) == sorted(LOCKED.findall(text))
    assert listed == set(re.findall(r"--hash=sha256:(\w{64})", text))


def test_equal_locks_have_equal_bills(tmp_path: Path) -> None:
    """No time and no chance is in one, so two builds can be compared."""
    lock = next(one for one in LOCKS if one.stem == "lambda")
    first, second = (
        write_bill(lock, tmp_path / name, is_held_to_schema=False).read_bytes() for name in ("first", "second")
    )

    assert first == second


def test_feed_that_cannot_be_reached_is_told_and_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    """Behind a proxy where nobody listens: nothing was checked, and that is what the command says."""
    nowhere = {"PATH": os.defpath, "HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"}

    assert audit(nowhere) == UNREACHABLE
    assert "cannot be reached" in capsys.readouterr().out
