"""Accept one cdk-nag finding on one construct, with the reason."""

from __future__ import annotations

import aws_cdk as cdk
from constructs import IConstruct


def acknowledge(construct: IConstruct, finding: str, reason: str) -> None:
    """Record the acknowledgement where cdk-nag reads it; a finding on another construct still fails synth.

    Not ``Validations.acknowledge``: it refuses the ids of findings that name an ARN (cdk-nag issue 2351).
    """
    construct.node.add_metadata(cdk.Validations.ACKNOWLEDGED_RULES_METADATA_KEY, {f"AwsSolutions-{finding}": reason})
