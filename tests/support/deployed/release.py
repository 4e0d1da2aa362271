"""Which release of the tests' code this is; a test deploys the next one by exchanging this file."""

from __future__ import annotations

RELEASE = "first"
