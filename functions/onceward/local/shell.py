"""Write the shell lines that lead the command and the client to the running stack.

No token is in them: it is read out of the stack's private file when the line is run.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from onceward.local.places import DEV_PROGRAMS, ROOT, STACK_FILE


def shell_lines(tenant: str, sample: Path) -> Iterator[str]:
    """Yield one line for the command, then two for any program that uses the client; to be run in the checkout."""
    programs, stack, document = (os.path.relpath(path, ROOT) for path in (DEV_PROGRAMS, STACK_FILE, sample))
    read = f"""{programs}/python -c 'import json; print(json.load(open("{stack}"))"""
    yield (f"{programs}/onceward --stack {stack} --as {tenant} submit document.analyze --document {document} --wait")
    yield f"""export ONCEWARD_URL="$({read}["api_url"])')\""""
    yield f"""export ONCEWARD_TOKEN="$({read}["tokens"]["{tenant}"])')\""""
