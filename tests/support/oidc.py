"""An OIDC issuer on loopback: its discovery document, its keys, and whatever tokens a test wants signed."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime, timedelta
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

KEY_ID = "key-1"
LIFE = timedelta(minutes=10)


class OidcServer:
    """A running issuer; what it signs is true, until a test makes it lie."""

    def __init__(self) -> None:
        """Make keys and take a free port; nothing is served yet."""
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                """Serve the two documents."""
                body = json.dumps(server.documents.get(self.path, {})).encode()
                self.send_response(200 if self.path in server.documents else 404)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Keep quiet."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)
        self.issuer = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> Self:
        """Serve."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @cached_property
    def documents(self) -> dict[str, dict[str, Any]]:
        """What is served, by path."""
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        return {
            "/.well-known/openid-configuration": {
                "issuer": self.issuer,
                "jwks_uri": f"{self.issuer}/keys",
                "id_token_signing_alg_values_supported": ["RS256"],
            },
            "/keys": {"keys": [{**public, "kid": KEY_ID, "use": "sig", "alg": "RS256"}]},
        }

    @cached_property
    def key(self) -> rsa.RSAPrivateKey:
        """The key that the issuer tells of."""
        return _a_key()

    @cached_property
    def forged_key(self) -> rsa.RSAPrivateKey:
        """A key that it does not."""
        return _a_key()

    def token(self, *, key: rsa.RSAPrivateKey | None = None, **claims: Any) -> str:
        """A token of now with these claims; ``None`` leaves a claim out."""
        now = datetime.now(UTC)
        known = {"iss": self.issuer, "sub": "auth0|42", "iat": now, "exp": now + LIFE, **claims}
        told = {name: value for name, value in known.items() if value is not None}
        return jwt.encode(told, key or self.key, algorithm="RS256", headers={"kid": KEY_ID})


def _a_key() -> rsa.RSAPrivateKey:
    """A new key of the least size that RS256 allows."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)
