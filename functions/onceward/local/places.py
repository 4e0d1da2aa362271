"""Name the places that the local programs share: the checkout, its tools and what a run leaves behind.

All of it is inside the checkout, so that two checkouts never meet and deleting one leaves nothing.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
INFRA = ROOT / "infra"
LOCAL = ROOT / ".local"  # git-ignored
DEV_PROGRAMS = ROOT / ".venv" / "bin"
CLOUD_PROGRAMS = LOCAL / "cloud-venv" / "bin"  # holds ministack, boto3 and cryptography, and nothing else
CDK = INFRA / "node_modules" / ".bin" / "cdk"
RUN = LOCAL / "run"  # what `make run` started: state, logs, the cloud's temporary folder
STACK_FILE = LOCAL / "stack.json"  # for other tools: where the running stack answers
SAMPLE = Path(__file__).parent / "samples" / "contract.pdf"
