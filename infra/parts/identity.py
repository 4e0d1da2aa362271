"""Make the user pool that signs in users and machines, and puts tenant and scopes into their access tokens.

It stands in the service stack, beside the function that it calls: in the state stack, the two stacks would need
each other. What it holds is protected as in the state stack: RETAIN and deletion protection by stage.
"""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_cognito as cognito
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.config import MachineClient, StageConfig
from infra.parts.acknowledge import acknowledge

RESOURCE_SERVER = "onceward"
SCOPES = {
    "jobs:read": "Read the tenant's jobs",
    "jobs:write": "Create, cancel and erase jobs, upload documents",
    "actions": "Ask for the actions that the client's entry names",
    "ops": "Decide for the tenant: reviews, approvals and resets of agents' actions",
}
TOKEN_LIFE = cdk.Duration.hours(1)  # a tenant or scope that was taken away still works for as long


class Identity(Construct):
    """The pool, its clients, and the issuer and audience that the API then asks for."""

    def __init__(self, scope: Construct, config: StageConfig, token_trigger: lambda_.Function) -> None:
        """Make them. Machine clients come from the configuration, because the API's audience lists each client."""
        super().__init__(scope, "Identity")
        self.pool = self._pool(config)
        self.pool.add_trigger(
            cognito.UserPoolOperation.PRE_TOKEN_GENERATION_CONFIG, token_trigger, cognito.LambdaVersion.V3_0
        )
        self._scopes = {
            name: cognito.ResourceServerScope(scope_name=name, scope_description=text) for name, text in SCOPES.items()
        }
        self._server = self.pool.add_resource_server(
            "ResourceServer", identifier=RESOURCE_SERVER, scopes=list(self._scopes.values())
        )
        stack = cdk.Stack.of(self)
        domain = f"onceward-{config.stage}-{stack.account}"  # one name space per region, for all of AWS
        self.pool.add_domain("Domain", cognito_domain=cognito.CognitoDomainOptions(domain_prefix=domain))
        self.users_client = self._users_client()
        self.machine_clients = {client.name: self._machine_client(client) for client in config.clients}
        self.domain = domain
        self.token_url = f"https://{domain}.auth.{stack.region}.amazoncognito.com/oauth2/token"
        # Written out: the pool's own attribute for it is missing in the local cloud.
        self.issuer = f"https://cognito-idp.{stack.region}.amazonaws.com/{self.pool.user_pool_id}"
        clients = (self.users_client, *self.machine_clients.values())
        self.audience = [client.user_pool_client_id for client in clients]

    def _pool(self, config: StageConfig) -> cognito.UserPool:
        """Make the pool: accounts are made by an operator, never by a stranger's sign-up."""
        pool = cognito.UserPool(
            self,
            "Pool",
            feature_plan=cognito.FeaturePlan.ESSENTIALS,  # the least plan whose trigger sees machine clients
            self_sign_up_enabled=False,
            sign_in_aliases=cognito.SignInAliases(email=True),
            account_recovery=cognito.AccountRecovery.EMAIL_ONLY,
            password_policy=cognito.PasswordPolicy(
                min_length=12, require_digits=True, require_lowercase=True, require_uppercase=True, require_symbols=True
            ),
            mfa=cognito.Mfa.OPTIONAL,
            mfa_second_factor=cognito.MfaSecondFactor(otp=True, sms=False),
            deletion_protection=config.protect,
            removal_policy=cdk.RemovalPolicy.RETAIN if config.protect else cdk.RemovalPolicy.DESTROY,
        )
        acknowledge(pool, "COG2", "Second factors are offered; whether users must have one is the adopter's to decide.")
        acknowledge(pool, "COG8", "The Plus plan is billed per user; threat protection is the adopter's to decide.")
        return pool

    def _users_client(self) -> cognito.UserPoolClient:
        """Make the client of people: SRP from an application, or a server that holds AWS credentials."""
        return self.pool.add_client(
            "Users",
            auth_flows=cognito.AuthFlow(user_srp=True, admin_user_password=True),
            disable_o_auth=True,
            prevent_user_existence_errors=True,
            access_token_validity=TOKEN_LIFE,
            id_token_validity=TOKEN_LIFE,
        )

    def _machine_client(self, client: MachineClient) -> cognito.UserPoolClient:
        """Make a client with a secret; its tenant and scopes stand in the accounts table, under its id."""
        scopes = [cognito.OAuthScope.resource_server(self._server, self._scopes[name]) for name in client.scopes]
        return self.pool.add_client(
            f"Client-{client.name}",
            generate_secret=True,
            o_auth=cognito.OAuthSettings(flows=cognito.OAuthFlows(client_credentials=True), scopes=scopes),
            access_token_validity=TOKEN_LIFE,
        )
