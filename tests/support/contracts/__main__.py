"""Write the shipped sample, or generated contracts: `python -m tests.support.contracts OUT [--generate N]`."""

import argparse
from pathlib import Path

from tests.support.contracts.generate import generate
from tests.support.contracts.sample import sample_pdf


def main() -> None:
    """Write OUT/contract.pdf (or OUT itself, if it ends in .pdf); with N, also OUT/contract-0.pdf and so on."""
    parser = argparse.ArgumentParser(prog="tests.support.contracts", description=main.__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--generate", type=int, default=0, metavar="N")
    options = parser.parse_args()
    out: Path = options.out
    target = out if out.suffix == ".pdf" else out / "contract.pdf"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(sample_pdf())
    for seed in range(options.generate):
        (target.parent / f"contract-{seed}.pdf").write_bytes(generate(seed)[0])


if __name__ == "__main__":
    main()
