"""The error tree: one base, a stable ``code`` each.

::

    OncewardError
    ├── RequestError                 the client's request cannot be taken; nothing was stored
    │   ├── MalformedJson            the body is not I-JSON
    │   │   └── TooDeep              the body is nested beyond its limit
    │   ├── MissingKey               no Idempotency-Key
    │   ├── MalformedKey             an Idempotency-Key outside its grammar
    │   │   └── KeyTooLong           an Idempotency-Key beyond its limit
    │   ├── InvalidInput             the body breaks the kind's model
    │   ├── UnknownKind              no such job kind
    │   ├── UnknownDocument          an input names a document that this tenant does not have
    │   ├── KeyReused                the key already belongs to another request
    │   ├── BudgetExceeded           the tenant's account cannot hold the charge
    │   ├── NotFinished              the job must have ended before this can be done
    │   ├── NotInReview              the job is not in review in that epoch
    │   ├── ReviewLooking            a run is just looking for the truth; ask again
    │   ├── ReviewResolved           somebody resolved the review otherwise
    │   ├── CancelRecorded           a recorded cancel goes before this verdict
    │   ├── AnswerArrived            the awaited answer came by itself
    │   ├── PaymentUnconfirmed       a retry that may pay twice was not confirmed
    │   ├── JobNotFound              no such job for this tenant
    │   ├── Unauthorized             no verified identity
    │   ├── Forbidden                identity without the needed scope or tenant
    │   ├── NotFound                 no such route
    │   ├── MethodNotAllowed         the route exists, this method does not
    │   ├── UnsupportedMedia         the body is not JSON
    │   ├── TooLarge                 the body is beyond its limit
    │   ├── UnknownAction            no such action
    │   ├── NotAdmissible            the action's own rule refuses the arguments
    │   ├── KeyDisagrees             header and operation_id name two intentions
    │   ├── OperationNotFound        no such operation for this tenant
    │   ├── OperationInProgress      the operation has not ended
    │   ├── NotAwaitingApproval      the operation waits for no approval
    │   ├── ArgumentsChanged         an approval of other arguments
    │   ├── NotFailed                a reset of an operation that has not failed
    │   └── RateLimited              the tenant has reached its limit for this stretch of time
    │       ├── DocumentLimit        the same, of documents
    │       └── InFlightLimit        as many jobs of its account are in flight as may be
    ├── InfrastructureError          something of ours did not answer; try again
    │   ├── StoreUnavailable
    │   ├── StoreBusy                conflicting transactions, retried with jitter in vain
    │   ├── QueueUnavailable
    │   ├── BlobUnavailable
    │   └── SecretUnavailable
    ├── AttemptError                 raised inside an attempt
    │   ├── JobFailure               permanent: a kind's code gives up, with its own code
    │   ├── CallFailure              a call failed, classified by the adapter that made it
    │   ├── LeaseLost                another run holds the job now
    │   ├── StopRun                  this run may not go on (time, cancel, switched off)
    │   ├── AnswerLater              a provider works on a step; the run ends and goes on later
    │   └── MayNotSend               a closing run reached a step that was never answered
    └── RegistrationError            a job kind contradicts itself; raised at import

A test asserts that each class has a code and a docstring, and that each ``RequestError`` and
``InfrastructureError`` has its row in the HTTP table.
"""

from __future__ import annotations

from onceward.errors.action import (
    ArgumentsChanged,
    KeyDisagrees,
    NotAdmissible,
    NotAwaitingApproval,
    NotFailed,
    OperationInProgress,
    OperationNotFound,
    UnknownAction,
)
from onceward.errors.attempt import (
    AnswerLater,
    AttemptError,
    CallFailure,
    JobFailure,
    LeaseLost,
    MayNotSend,
    StopRun,
    Usage,
)
from onceward.errors.infrastructure import (
    BlobUnavailable,
    InfrastructureError,
    QueueUnavailable,
    SecretUnavailable,
    StoreBusy,
    StoreUnavailable,
)
from onceward.errors.request import (
    BudgetExceeded,
    DocumentLimit,
    Fault,
    Forbidden,
    InFlightLimit,
    InvalidInput,
    JobNotFound,
    KeyReused,
    KeyTooLong,
    MalformedJson,
    MalformedKey,
    MethodNotAllowed,
    MissingKey,
    NotFinished,
    NotFound,
    RateLimited,
    RequestError,
    TooDeep,
    TooLarge,
    Unauthorized,
    UnknownDocument,
    UnknownKind,
    UnsupportedMedia,
)
from onceward.errors.review import (
    AnswerArrived,
    CancelRecorded,
    NotInReview,
    PaymentUnconfirmed,
    ReviewLooking,
    ReviewResolved,
)
from onceward.errors.root import (
    OncewardError,
    RegistrationError,
)

__all__ = [
    "AnswerArrived",
    "AnswerLater",
    "ArgumentsChanged",
    "AttemptError",
    "BlobUnavailable",
    "BudgetExceeded",
    "CallFailure",
    "CancelRecorded",
    "DocumentLimit",
    "Fault",
    "Forbidden",
    "InFlightLimit",
    "InfrastructureError",
    "InvalidInput",
    "JobFailure",
    "JobNotFound",
    "KeyDisagrees",
    "KeyReused",
    "KeyTooLong",
    "LeaseLost",
    "MalformedJson",
    "MalformedKey",
    "MayNotSend",
    "MethodNotAllowed",
    "MissingKey",
    "NotAdmissible",
    "NotAwaitingApproval",
    "NotFailed",
    "NotFinished",
    "NotFound",
    "NotInReview",
    "OncewardError",
    "OperationInProgress",
    "OperationNotFound",
    "PaymentUnconfirmed",
    "QueueUnavailable",
    "RateLimited",
    "RegistrationError",
    "RequestError",
    "ReviewLooking",
    "ReviewResolved",
    "SecretUnavailable",
    "StopRun",
    "StoreBusy",
    "StoreUnavailable",
    "TooDeep",
    "TooLarge",
    "Unauthorized",
    "UnknownAction",
    "UnknownDocument",
    "UnknownKind",
    "UnsupportedMedia",
    "Usage",
]
