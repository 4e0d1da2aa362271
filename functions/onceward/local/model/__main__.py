"""Start the stand-in model server: `python -m onceward.local.model --port N [--host 127.0.0.1]`."""

import sys

from onceward.local.loopback import make_parser, serve
from onceward.local.model import STAND_IN_MODEL, STAND_IN_NOTICE
from onceward.local.model.server import ModelServer
from onceward.local.model.stand_in import StandIn


def main() -> int:
    """Serve until asked to end; print one line when ready."""
    parser = make_parser("onceward.local.model", f"{STAND_IN_MODEL}: a {STAND_IN_NOTICE}.")
    parser.add_argument(
        "--dedupe-seconds", type=float, help="repeat the stored answer of an Idempotency-Key for so long"
    )
    options = parser.parse_args()
    standing = {"dedupe_s": options.dedupe_seconds} if options.dedupe_seconds is not None else None
    introduction = f"{STAND_IN_MODEL} ({STAND_IN_NOTICE})"
    return serve(lambda address: ModelServer(address, StandIn(standing)), options, introduction)


if __name__ == "__main__":
    sys.exit(main())
