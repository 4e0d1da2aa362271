"""One running API for each test that asks."""

from tests.unit.client.live_api import live

__all__ = ["live"]
