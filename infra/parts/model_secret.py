"""Make the place for the model provider's key; its value is never in a template, an environment or a log."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from infra.config import StageConfig
from infra.parts.acknowledge import acknowledge


def model_secret(scope: Construct, config: StageConfig) -> secretsmanager.CfnSecret:
    """Make the secret without a value, for the operator to set.

    Not the library's ``Secret``: that one generates a random value, and a random key looks like a real one until
    the provider refuses it. A secret without a value says so at the first read.
    """
    secret = secretsmanager.CfnSecret(scope, "ModelSecret", description="The model provider's API key, as plain text")
    secret.apply_removal_policy(cdk.RemovalPolicy.RETAIN if config.protect else cdk.RemovalPolicy.DESTROY)
    acknowledge(secret, "SMG4", "The key is issued by the model provider, which offers no rotation by an AWS function.")
    return secret
