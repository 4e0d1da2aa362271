"""The one base of everything that Onceward raises on purpose."""

from __future__ import annotations


class OncewardError(Exception):
    """Base of everything Onceward raises on purpose; ``detail`` never holds content or a secret."""

    code = "internal_error"

    def __init__(self, detail: str = "", *, code: str | None = None) -> None:
        """Keep a sentence for people; ``code`` overrides the class's stable code where a class has many."""
        super().__init__(detail)
        self.detail = detail
        if code is not None:
            self.code = code


class RegistrationError(OncewardError):
    """A job kind contradicts itself; raised when it is registered."""

    code = "registration_error"
