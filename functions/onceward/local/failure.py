"""The one error of the local programs: a line that says what to do."""


class LocalError(Exception):
    """Stop a local program; the message is one line for a person and says what to do."""
