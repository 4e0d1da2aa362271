"""Print the side-by-side table as Markdown: ``python -m bench.singleflight``; see the README beside this file."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable

from bench.singleflight.correctness import QUESTIONS, ask_peer
from bench.singleflight.cost import PASSES, SIZES, measure
from bench.singleflight.peers import PEERS


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |\n"


def _correctness() -> str:
    head = _row(["peer", *QUESTIONS]) + _row(["---"] * (len(QUESTIONS) + 1))
    rows = [
        _row([peer.label, *[f"{'✓' if right else '✗'} {told}" for right, told in ask_peer(peer).values()]])
        for peer in PEERS
    ]
    return head + "".join(rows)


def _cost() -> str:
    head = _row(["peer", *[f"{size:,} caller{'s' * (size > 1)}" for size in SIZES]]) + _row(["---"] * (len(SIZES) + 1))
    rows = [_row([name, *[f"{ratio:.2f}" for ratio in row.values()]]) for name, row in asyncio.run(measure()).items()]
    return head + "".join(rows)


def main() -> None:
    """Ask everyone everything; a minute or two."""
    python = ".".join(map(str, sys.version_info[:3]))
    sys.stdout.write(f"Python {python}, {sys.platform}.\n\n## Who is right\n\n{_correctness()}\n")
    sys.stdout.write(f"## What a call costs\n\nCPU per caller over the floor, best of {PASSES} passes.\n\n{_cost()}")


if __name__ == "__main__":
    main()
