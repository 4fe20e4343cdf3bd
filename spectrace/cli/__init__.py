"""The command line: `spectrace COMMAND`. One file a command: parse, call one function, hand the value to `console`."""

from spectrace.cli.group import main

__all__ = ["main"]
