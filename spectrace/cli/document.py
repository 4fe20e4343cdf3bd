"""The `--json` document: one object on stdout, `{"schema": "spectrace.<command>.v1", "items": [...]}`.

It is pure ASCII, so that no recorded character can reach a terminal or break a pipe's encoding.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, redirect_stdout


def write(command: str, items: Iterable[Mapping[str, object]]) -> None:
    """Write the document."""
    document = {"schema": f"spectrace.{command}.v1", "items": list(items)}
    sys.stdout.write(json.dumps(document, indent=2) + "\n")


def kept_clean() -> AbstractContextManager[object]:
    """Let what a user's own code prints inside the block go to stderr: stdout is for the document, or a table."""
    return redirect_stdout(sys.stderr)
