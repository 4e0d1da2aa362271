"""Read a dashboard's body: the metrics of each graph, and the searches."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

type Shown = tuple[str, str, dict[str, str]]  # namespace, name, dimensions
type Searched = tuple[str, str, frozenset[str]]  # namespace, name, and the names of its dimensions

SEARCH = re.compile(r"SEARCH\('\{([A-Za-z]+),([a-z,]+)\} MetricName=\"(\w+)\"")


def shown_metrics(body: str) -> Iterator[Shown]:
    """Each metric of each graph, those in expressions too."""
    for widget in json.loads(body)["widgets"]:
        for row in widget["properties"].get("metrics", []):
            if isinstance(row[0], str):
                names = [part for part in row if isinstance(part, str)]
                yield names[0], names[1], dict(zip(names[2::2], names[3::2], strict=True))


def searched(body: str) -> set[Searched]:
    """What is searched for."""
    told = [row[0] for widget in json.loads(body)["widgets"] for row in widget["properties"].get("metrics", [])]
    expressions = [one["expression"] for one in told if isinstance(one, dict) and "expression" in one]
    found = (SEARCH.search(expression) for expression in expressions)
    return {(one[1], one[3], frozenset(one[2].split(","))) for one in found if one is not None}
