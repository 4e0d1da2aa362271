"""What a deploy creates is what the operations guide says it costs."""

import re
from pathlib import Path

from tests.infra.templates import Assembly

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "operations.md"
CHAPTER = re.compile(r"^## What a deploy creates and what it costs at rest\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
ITEM = re.compile(r"\| \$(\d+\.\d\d)[^|]*\|$", re.MULTILINE)
TOTAL = re.compile(r"\*\*\$(\d+\.\d\d) a month at rest\*\*")


def _chapter() -> str:
    found = CHAPTER.search(GUIDE.read_text(encoding="utf-8"))
    assert found is not None
    return found[1]


def test_every_kind_of_resource_stands_in_the_guide_with_its_price(assembly: Assembly) -> None:
    """A new type of resource may cost money at rest: it enters the table in the same change."""
    created = {
        resource["Type"]
        for template in (assembly.state("prod"), assembly.service("prod"), assembly.observability("prod"))
        for resource in template["Resources"].values()
    }

    assert created == set(re.findall(r"`(AWS::\w+::\w+)`", _chapter()))


def test_the_items_add_up_to_less_than_a_dollar() -> None:
    """The promise is under $1 a month; the stated total is the sum of the items."""
    items = [round(float(item) * 100) for item in ITEM.findall(_chapter())]
    total = TOTAL.search(_chapter())

    assert total is not None
    assert sum(items) == round(float(total[1]) * 100)
    assert sum(items) < 100
