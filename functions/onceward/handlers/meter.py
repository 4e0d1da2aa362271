"""Metrics as log lines (CloudWatch's embedded metric format), by Powertools: one for each invocation that has any.

Dimensions are the stage and Powertools' service, which is the function; never a tenant, a job or a kind's input. What
is counted for each model apart is a line of its own, with the model as a third dimension and without it: a deployment
has as many models as it is configured with.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

from onceward.usecases.measuring import Metric, Unit

NAMESPACE = "Onceward"
UNITS = {Unit.COUNT: MetricUnit.Count, Unit.SECONDS: MetricUnit.Seconds, Unit.MICRO_USD: MetricUnit.NoUnit}


class Meter:
    """The metrics of one execution environment."""

    def __init__(self, stage: str) -> None:
        """Nothing is written yet. It writes where the environment's logger does: to the stdout of its beginning."""
        self._stage = stage
        self._out = sys.stdout

    def publish(self, metrics: Iterable[Metric]) -> None:
        """Write all of an invocation's values at once; nothing if there are none."""
        by_model: defaultdict[str | None, list[Metric]] = defaultdict(list)
        for metric in metrics:
            by_model[metric.model].append(metric)
        for model, values in by_model.items():
            # Powertools itself would print to whatever stdout is now.
            self._out.write(json.dumps(self._line(model, values), separators=(",", ":")) + "\n")
            self._out.flush()

    def _line(self, model: str | None, values: Iterable[Metric]) -> dict[str, Any]:
        """One line of the format."""
        line = EphemeralMetrics(namespace=NAMESPACE)
        line.add_dimension(name="stage", value=self._stage)
        if model is not None:
            line.add_dimension(name="model", value=model)
        for one in values:
            line.add_metric(name=one.name, unit=UNITS[one.unit], value=one.value)
        told: dict[str, Any] = dict(line.serialize_metric_set())
        if model is not None:
            (directive,) = told["_aws"]["CloudWatchMetrics"]
            directive["Dimensions"].append([name for name in directive["Dimensions"][0] if name != "model"])
        return told
