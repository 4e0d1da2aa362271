"""How a DynamoDB client is configured: short waits, and few repeats, because every write can be asked twice."""

from __future__ import annotations

from typing import Final

from botocore.config import Config

CONFIG: Final = Config(
    connect_timeout=1,  # seconds; within a region a connection takes milliseconds, or the host is gone
    read_timeout=3,  # seconds; a transaction takes tens of milliseconds. A heartbeat must fail while the lease lives
    # Three sends in all: 12 s at worst, within one lease. An SDK that repeats an applied write is expected: a refused
    # write's row shows the caller its own token.
    retries={"mode": "standard", "total_max_attempts": 3},
    max_pool_connections=64,  # more than the runner has threads: a call never waits for another's connection
)
