# ruff: noqa: F401 - importing a kind's module registers it
"""The kinds that this deployment runs: add a file beside this one and its line below."""

from __future__ import annotations

import onceward.kinds.create_task
import onceward.kinds.document_analyze
import onceward.kinds.document_compare
import onceward.kinds.text_generate
from onceward.kinds.catalog import KINDS

__all__ = ["KINDS"]
