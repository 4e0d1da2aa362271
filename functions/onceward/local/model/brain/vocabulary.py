"""Write word lists as patterns."""


def any_of(words: str) -> str:
    """Make an alternation of `/`-separated words, the longest first, so that none hides another."""
    return "|".join(sorted((word.strip() for word in words.split("/")), key=len, reverse=True))
