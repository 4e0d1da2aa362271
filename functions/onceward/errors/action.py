"""Why a request about an agent's action cannot be taken."""

from __future__ import annotations

from datetime import timedelta

from onceward.errors.request import RequestError


class UnknownAction(RequestError):
    """No action of that name is declared."""

    code = "unknown_action"


class NotAdmissible(RequestError):
    """The action's own rule refuses these arguments."""

    code = "not_admissible"


class KeyDisagrees(RequestError):
    """The Idempotency-Key and the operation_id of one request differ: nobody knows which intention is meant."""

    code = "idempotency_key_disagrees"


class OperationNotFound(RequestError):
    """No such operation for this tenant and these permissions; a foreign one answers exactly so."""

    code = "operation_not_found"


class OperationInProgress(RequestError):
    """The operation is known and has not ended; asking again later, with the same key, is safe."""

    code = "operation_in_progress"

    def __init__(self, detail: str = "", *, code: str | None = None, retry_after: timedelta = timedelta(0)) -> None:
        """``retry_after``: the rest of the lease, or of the wait."""
        super().__init__(detail, code=code)
        self.retry_after = retry_after


class NotAwaitingApproval(RequestError):
    """The operation does not wait for an approval."""

    code = "not_awaiting_approval"


class ArgumentsChanged(RequestError):
    """The fingerprint is not that of the operation's arguments: something else was looked at."""

    code = "fingerprint_mismatch"


class NotFailed(RequestError):
    """The operation has not failed in this epoch: there is nothing to reset."""

    code = "operation_not_failed"
