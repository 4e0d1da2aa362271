"""How large a bundle may be: it is read at every cold start, so growth is to be noticed."""

from pathlib import Path

MEGABYTE = 1_000_000
LARGEST_ZIP = 16 * MEGABYTE  # bytes; two thirds of it read documents, cryptography above all; Lambda takes 50 MB
LARGEST_UNPACKED = 50 * MEGABYTE  # bytes; Lambda takes 250 MB


def unpacked(bundle: Path) -> int:
    """The bytes of all files in a folder."""
    return sum(path.stat().st_size for path in bundle.rglob("*") if path.is_file())
