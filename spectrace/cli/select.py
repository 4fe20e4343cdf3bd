"""Which episodes a command is about: ids or unique prefixes, `EP:SEQ`, `--all`, filters, or `-` for ids on stdin."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import click

from spectrace.audit.answers import Filters
from spectrace.audit.queries import Reader
from spectrace.errors import UsageError

Decorated = Callable[..., Any]


def episodes_argument(function: Decorated) -> Decorated:
    """Give a command `EP..` and `--all`."""
    decorated = click.option("--all", "every", is_flag=True, help="Every episode that passes the filters.")(function)
    return click.argument("episodes", nargs=-1, metavar="[EP]...")(decorated)


def chosen(reader: Reader, episodes: Sequence[str], every: bool, filters: Filters) -> list[str]:  # noqa: FBT001 - a flag of the command line
    """Return the ids of the episodes that were named; with filters or --all those that pass, oldest first."""
    filtered = every or filters != Filters()
    if episodes and filtered:
        raise UsageError("name episodes, or choose them with --all or filters; not both.")
    if not episodes and not filtered:
        raise UsageError(
            "name an episode by its id or a unique prefix, or choose: --all, --run NAME, filters, or - (ids on stdin)."
        )
    if not episodes:
        return [one.episode for one in reader.iter_episodes(replace(filters, sort="started_at"))]
    names = [name for given in episodes for name in (_from_stdin() if given == "-" else [given])]
    return list(dict.fromkeys(reader.resolve(name) for name in names))


def _from_stdin() -> list[str]:
    names = sys.stdin.read().split()
    if not names:
        raise UsageError("- reads episode ids from stdin, and there were none.")
    return names


def event_of(text: str) -> tuple[str, int | None]:
    """Split `EP:SEQ`; without a number the second is None."""
    episode, colon, seq = text.partition(":")
    if not colon:
        return episode, None
    if not seq.isascii() or not seq.isdigit():
        raise UsageError(f"an event is EP:SEQ with SEQ a number, found {text!r}.")
    return episode, int(seq)
