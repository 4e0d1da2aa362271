"""Promises about conditions: the store's spelling of each means what its ``holds`` says."""

from __future__ import annotations

import pytest

from onceward.domain.change import Fields, RowChange
from onceward.domain.transaction import Applied, Refused
from onceward.usecases.ports import Store
from tests.contract.job_store.condition_cases import CASES, Case
from tests.contract.job_store.stories import store_job, update


class ConditionPromises:
    """Each condition, both ways."""

    @pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
    def test_condition_is_spelled_as_it_is_meant(self, store: Store, case: Case) -> None:
        """A write happens exactly if the condition holds of the row."""
        job = store_job(store, case.job)
        reply = update(store, job, RowChange(when=(case.condition,), set=Fields(error_code="written")))

        assert case.condition.holds(job) is case.holds
        assert reply == (Applied(before=job) if case.holds else Refused(row=job, is_row_refused=True))
