"""Compile a change of the row into the arguments of one conditional update.

``None`` removes an attribute. A change that removes ``due`` leaves ``due_shard`` where it is: the sparse index needs
both, so the row leaves it all the same, and a later write may set ``due`` alone without knowing the shard.
"""

from __future__ import annotations

from typing import Any

from onceward.adapters.dynamodb.conditions import RowTerms, all_hold
from onceward.adapters.dynamodb.keys import row_key
from onceward.adapters.dynamodb.row_codec import COLUMNS, pack
from onceward.adapters.dynamodb.shapes import encode
from onceward.domain.change import RowChange
from onceward.domain.due import shard_after
from onceward.domain.names import JobId, TenantId, identity_of


def update_arguments(tenant_id: TenantId, job_id: JobId, change: RowChange) -> dict[str, Any]:
    """What ``UpdateItem``, and an ``Update`` of a transaction, need to know."""
    row = RowTerms()
    return {
        "Key": row_key(tenant_id, identity_of(job_id)),
        "UpdateExpression": _update_expression(job_id, change, row),
        "ConditionExpression": all_hold(change.when, row),
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        **row.arguments(),
    }


def _update_expression(job_id: JobId, change: RowChange, row: RowTerms) -> str:
    """The clauses that there is something for."""
    sets, removes = [], []
    fields = {**change.set}
    if "open" in change.set:
        fields["open"] = pack(change.set["open"], job_id)
    for field, value in fields.items():
        if field in change.add:
            continue  # counting wins, as in RowChange.apply; two writes of one attribute would be refused
        encoded = encode(COLUMNS[field], value)
        if encoded is None:
            removes.append(row.field(field))
        else:
            sets.append(f"{row.field(field)} = {row.value(encoded)}")
    shard = shard_after(change, job_id)
    if shard is not None:
        sets.append(f"{row.name('due_shard')} = {row.value(shard)}")
    adds = [f"{row.field(field)} {row.value(step)}" for field, step in change.add.items() if isinstance(step, int)]
    clauses = {"SET": sets, "REMOVE": removes, "ADD": adds}
    return " ".join(f"{verb} {', '.join(parts)}" for verb, parts in clauses.items() if parts)
