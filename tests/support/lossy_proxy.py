"""microburst for clients that call it by its address: told first that no host is the name of a service.

It would read every model of AWS to see that ``127`` names none, for 3.5 seconds of a core in each process.
"""

from __future__ import annotations

import sys

from microburst.cli import main
from microburst.detection import host

host._endpoint_prefix_map = dict  # requests are told by what they are signed for

if __name__ == "__main__":
    sys.exit(main())
