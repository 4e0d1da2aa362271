"""Promises about conditions: the store's spelling of each means what its ``holds`` says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from onceward.domain.change import Fields, RowChange
from onceward.domain.names import TenantId
from onceward.domain.transaction import Applied, Refused
from onceward.usecases.ports import Store
from tests.contract.job_store.condition_cases import CASES, Case
from tests.contract.job_store.stories import store_job, update


class ConditionPromises:
    """Each condition, both ways, for a tenant of its own: all in one store, since to make tables takes longer."""

    @pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
    def test_condition_is_spelled_as_it_is_meant(self, shared: Store, case: Case) -> None:
        """A write happens exactly if the condition holds of the row."""
        job = store_job(shared, replace(case.job, tenant_id=TenantId(f"tenant-{CASES.index(case)}")))
        reply = update(shared, job, RowChange(when=(case.condition,), set=Fields(error_code="written")))

        assert case.condition.holds(job) is case.holds
        assert reply == (Applied(before=job) if case.holds else Refused(row=job, is_row_refused=True))
