"""Where a kind registers itself. Read the kinds from ``registered``: only that module knows that all have done so."""

from __future__ import annotations

from onceward.usecases.registry import Registry

KINDS = Registry()
