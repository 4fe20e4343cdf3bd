"""The `--json` document: one object on stdout, `{"schema": "spectrace.<command>.v1", "items": [...]}`.

It is pure ASCII, so that no recorded character can reach a terminal or break a pipe's encoding.
"""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from textwrap import indent

_STDOUT, _STDERR = 1, 2


def write(command: str, items: Iterable[Mapping[str, object]]) -> None:
    """Write the document, item by item as they come: a ledger of millions need not lie in memory first."""
    out, between = sys.stdout, "\n"
    out.write(f'{{\n  "schema": {json.dumps(f"spectrace.{command}.v1")},\n  "items": [')
    for item in items:
        out.write(between + indent(json.dumps(item, indent=2), "    "))
        between = ",\n"
    out.write("]\n}\n" if between == "\n" else "\n  ]\n}\n")


@contextmanager
def kept_clean() -> Iterator[None]:
    """Let what a user's own code prints inside the block go to stderr: stdout is for the document, or a table.

    That of programs and C libraries that it calls too: they write to the descriptor, which is stderr's for so long.
    """
    sys.stdout.flush()
    with ExitStack() as moved, redirect_stdout(sys.stderr):
        with suppress(OSError):  # a stdout or stderr that is closed: nothing can be written there
            kept = os.dup(_STDOUT)
            moved.callback(os.close, kept)
            moved.callback(os.dup2, kept, _STDOUT)
            os.dup2(_STDERR, _STDOUT)
        yield
