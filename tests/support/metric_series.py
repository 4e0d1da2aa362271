"""Series of metrics: those that lines of the embedded format make, and which of those that are watched nobody writes.

For the lines that the handlers write over memory, and for those that deployed functions have logged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tests.support.aws_metrics import is_documented
from tests.support.dashboard_body import Searched, Shown

OWN = "Onceward"

type Series = tuple[str, str, frozenset[tuple[str, str]]]  # namespace, name, dimensions


def series_of(lines: Iterable[Mapping[str, Any]]) -> set[Series]:
    """Every series that the lines make."""
    return {
        (told["Namespace"], metric["Name"], frozenset((name, line[name]) for name in names))
        for line in lines
        for told in line["_aws"]["CloudWatchMetrics"]
        for names in told["Dimensions"]
        for metric in told["Metrics"]
    }


def alarmed(alarms: Iterable[Mapping[str, Any]]) -> Iterator[Shown]:
    """The metric of each alarm, whether a template or CloudWatch describes it."""
    for alarm in alarms:
        yield alarm["Namespace"], alarm["MetricName"], {one["Name"]: one["Value"] for one in alarm["Dimensions"]}


def unwritten(watched: Iterable[Shown], written: set[Series]) -> list[Shown]:
    """Those that have no value, ever: ours stand in no line, the others not in AWS's documentation."""

    def is_known(namespace: str, name: str, dimensions: Mapping[str, str]) -> bool:
        if namespace == OWN:
            return (namespace, name, frozenset(dimensions.items())) in written
        return is_documented(namespace, name, dimensions)

    return [one for one in watched if not is_known(*one)]


def unfound(searches: Iterable[Searched], written: set[Series]) -> list[Searched]:
    """Those searches that find no series, whatever the values of its dimensions."""
    known = {(namespace, name, frozenset(key for key, _ in dimensions)) for namespace, name, dimensions in written}
    return [one for one in searches if one not in known]
