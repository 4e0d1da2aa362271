"""Start the demonstration tracker: `python -m onceward.local.tracker --port N --database FILE`."""

import sys
from pathlib import Path

from onceward.local.loopback import make_parser, serve
from onceward.local.tracker import NAME
from onceward.local.tracker.server import TrackerServer
from onceward.local.tracker.tasks import Tasks


def main() -> int:
    """Serve until asked to end; print one line when ready."""
    parser = make_parser("onceward.local.tracker", f"{NAME}: a demonstration target.")
    parser.add_argument("--database", type=Path, required=True, help="the SQLite file; it is made if it is not there")
    options = parser.parse_args()
    return serve(lambda address: TrackerServer(address, Tasks(options.database)), options, NAME)


if __name__ == "__main__":
    sys.exit(main())
