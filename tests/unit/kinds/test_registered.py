"""The kinds that ship, together."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import onceward.kinds
from onceward.domain.policy import OnUnknown
from onceward.domain.timing import Timing
from onceward.kinds.extraction_limits import TIMEOUT
from onceward.kinds.registered import KINDS
from onceward.usecases.registry import Kind

LAMBDA_LIMIT = timedelta(seconds=900)
# Yours have policies of their own, which nothing here judges.
SHIPPED = ("document.analyze", "document.compare", "text.generate")

MAKES = re.compile(r"@KINDS\.kind\(|KINDS\.action\(")


def shipped() -> list[Kind[Any, Any]]:
    """The kinds of this repository, whatever stands beside them."""
    return [kind for kind in KINDS if kind.name in SHIPPED]


def test_the_kinds_that_ship_are_registered() -> None:
    """Importing the list is enough to know them; yours go beside them."""
    assert set(SHIPPED) <= {kind.name for kind in KINDS}


def test_a_kind_is_one_file_and_one_line() -> None:
    """Every module that registers a kind is in the list, once."""
    folder = Path(onceward.kinds.__file__).parent
    makers = {path.stem for path in folder.glob("*.py") if MAKES.search(path.read_text(encoding="utf-8"))}
    listed = (folder / "registered.py").read_text(encoding="utf-8")

    assert [listed.count(f"import onceward.kinds.{name}\n") for name in makers] == [1] * len(KINDS.limits)


def test_an_attempt_has_room_for_its_work_inside_one_invocation() -> None:
    """What comes before the call, the call itself and the settle budget fit the attempt, and that fits Lambda."""
    for kind in shipped():
        policy = kind.policy
        before = TIMEOUT if kind.name.startswith("document.") else timedelta(0)
        assert before + policy.call_timeout + Timing().settle_budget <= policy.timeout < LAMBDA_LIMIT


def test_a_shipped_kind_never_buys_twice_on_a_guess() -> None:
    """A maybe goes to a person, and the spend cap allows at least one call."""
    for kind in shipped():
        policy = kind.policy
        assert policy.retry.on_unknown is OnUnknown.REVIEW
        assert policy.max_provider_cost is not None
        assert 0 < policy.tariff_micro_usd <= policy.max_call_cost <= policy.max_provider_cost


def test_every_kind_has_schemas_for_its_api() -> None:
    """Input and output can be published."""
    for kind in KINDS:
        assert json.dumps([kind.input_model.model_json_schema(), kind.output_model.model_json_schema()])
