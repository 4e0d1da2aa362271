"""List everything in which a template for the local cloud differs from the one for AWS, each with its reason.

``tests/infra`` compares the two templates, value by value, and fails on a difference that is not here and on an
entry that no longer tells one. What the local cloud does otherwise at run time is named in ``onceward.local``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One place of a template (a pattern over ``Resources/<id>/…`` paths) and why it may differ."""

    path: str
    reason: str


# Stacks of AWS that the local cloud does not get by default; ``-c observability=true`` deploys this one there too.
LOCAL_STACKS_LEFT_OUT = {
    "OncewardObservability": "The local cloud takes no metrics from logs: its alarms would have nothing to look at.",
}
LOCAL_DIFFERENCES = (
    Difference(
        path=r"Resources/\w+/Properties/Architectures/0",
        reason="The local cloud runs functions on this machine's processor; on AWS on arm64, which costs less.",
    ),
    Difference(
        path=r"Resources/\w+/Properties/Code/S3Key",
        reason="The asset holds wheels for that processor, so its hash is another one.",
    ),
    Difference(
        path=r"Resources/IdentityPoolClient(acme|globex|operator)\w+/.*",
        reason="Demo and tests need machine clients; on AWS each costs money, so a stage names its own.",
    ),
    Difference(
        path=r"Outputs/Client(Acme|Globex|Operator)Id/.*",
        reason="The ids of those clients, for the local cloud to fetch tokens.",
    ),
    Difference(
        path=r"Resources/ApiHttpToken\w+/Properties/JwtConfiguration/Audience/[1-3]/.*",
        reason="The API accepts the tokens of those clients.",
    ),
    Difference(
        path=r"Resources/WorkerFunction\w+/Properties/Environment/Variables/ONCEWARD_TARGETS_ARE_LOCAL",
        reason="The demonstration's target speaks plain HTTP on this machine; on AWS only https to public addresses.",
    ),
    Difference(
        path=r"Outputs/ExportsOutput(Ref|FnGetAtt)(Queue|\w+Function|ApiHttp)\w+/.*",
        reason="The names that the dashboard and the alarms import; they are left out locally.",
    ),
)
