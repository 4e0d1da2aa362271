"""What the locks bring in: a bill of materials of each (``sbom``), and what is known against it (``audit``).

Both read the hash-locked requirements and nothing that is installed. ``sbom`` needs no network and writes equal bytes
for equal locks. ``audit`` asks an advisory feed; where that cannot be reached it says so and ends with 3, because
nothing was checked: 0 means that nothing is known against any locked package, 1 that something is.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCKS = tuple(sorted((ROOT / "locks").glob("*.txt")))
BILLS = ROOT / ".local" / "sbom"
PROGRAMS = Path(sys.executable).parent
UNREACHABLE = 3
AUDIT = ("--disable-pip", "--require-hashes", "--progress-spinner", "off", "--timeout", "10", "-s", "osv", "-f", "json")
BILL = ("requirements", "--output-reproducible", "--output-format", "JSON")


def write_bill(lock: Path, folder: Path, *, is_held_to_schema: bool = True) -> Path:
    """Write one lock's bill of materials (CycloneDX, JSON) into a folder; CycloneDX's schema takes seconds to load."""
    bill = folder / f"{lock.stem}.cdx.json"
    folder.mkdir(parents=True, exist_ok=True)
    options = [*BILL, "--validate" if is_held_to_schema else "--no-validate", "--output-file", str(bill), str(lock)]
    subprocess.run([str(PROGRAMS / "cyclonedx-py"), *options], check=True)
    return bill


def known_against(lock: Path, environment: Mapping[str, str] | None = None) -> list[str] | None:
    """``package version: advisory`` of all that is known against a lock; ``None``: the feed could not be asked."""
    command = [str(PROGRAMS / "pip-audit"), *AUDIT, "-r", str(lock)]
    told = subprocess.run(command, capture_output=True, text=True, check=False, env=environment).stdout
    try:
        packages = json.loads(told)["dependencies"]
    except ValueError:  # it prints its report or, where the feed does not answer, a traceback elsewhere
        return None
    return [f"{one['name']} {one['version']}: {found['id']}" for one in packages for found in one.get("vulns", ())]


def audit(environment: Mapping[str, str] | None = None) -> int:
    """Look up every lock, tell what is found, and return the exit code."""
    found: list[str] = []
    for lock in LOCKS:
        known = known_against(lock, environment)
        if known is None:
            print(f"audit: the advisory feed cannot be reached; {lock.name} and what follows was not checked")
            return UNREACHABLE
        found += [f"{lock.name}: {line}" for line in known]
    print("\n".join(found) or f"audit: nothing is known against the packages of {len(LOCKS)} locks")
    return 1 if found else 0


def main(wish: str) -> int:
    """Do what the Makefile asks for."""
    if wish == "audit":
        return audit()
    for lock in LOCKS:
        print(write_bill(lock, BILLS).relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
