"""What of ours did not answer: the same request may be tried again."""

from __future__ import annotations

from onceward.errors.root import OncewardError


class InfrastructureError(OncewardError):
    """Something of ours did not answer; the same request may be tried again."""

    code = "unavailable"


class StoreUnavailable(InfrastructureError):
    """The tables did not answer, or refused for load."""

    code = "store_unavailable"


class StoreBusy(InfrastructureError):
    """Transactions kept conflicting on one item."""

    code = "store_busy"


class QueueUnavailable(InfrastructureError):
    """The queue did not answer."""

    code = "queue_unavailable"


class BlobUnavailable(InfrastructureError):
    """The blob store did not answer."""

    code = "blob_unavailable"


class SecretUnavailable(InfrastructureError):
    """A secret could not be read."""

    code = "secret_unavailable"
