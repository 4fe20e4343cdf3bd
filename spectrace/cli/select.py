"""Which episodes a command is about: ids or unique prefixes, `EP:SEQ`, `--all`, filters, or `-` for ids on stdin."""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import click

from spectrace.audit.answers import Filters
from spectrace.audit.queries import Reader
from spectrace.cli.console import iso_seconds
from spectrace.errors import UsageError
from spectrace.settings import meant

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
    if episodes:
        return named(reader, episodes)
    require_runs(reader, filters)
    found = [one.episode for one in reader.iter_episodes(replace(filters, sort="started_at"))]
    if not found:
        raise UsageError(f"no episode passes {described(filters)}; `spectrace ls` lists what there is.")
    return found


def named(reader: Reader, episodes: Sequence[str]) -> list[str]:
    """Return the ids of episodes named by prefix, or on stdin, each once."""
    return list(dict.fromkeys(reader.resolve(name) for name in typed(episodes)))


def typed(episodes: Sequence[str]) -> list[str]:
    """Return the names that were given, those on stdin in the place of `-`."""
    return [name for given in episodes for name in (_from_stdin() if given == "-" else [given])]


def require_runs(reader: Reader, filters: Filters) -> None:
    """Raise UsageError for a run that no episode belongs to: a misspelt name must not look like an empty answer."""
    if not filters.run:
        return
    known = sorted({one.run for one in reader.runs()})
    for name in filters.run:
        if name not in known:
            raise UsageError(f"no run is named {name!r}{meant(name, known)}; `spectrace runs` lists them.")


def described(filters: Filters) -> str:
    """Return the filters as they were typed, or `--all`."""
    return " ".join(_typed(filters)) or "--all (there is none in this log)"


def _typed(filters: Filters) -> Iterator[str]:
    for name in ("status", "env", "protocol", "model", "task", "project", "run", "tool"):
        yield from (f"--{name} {value}" for value in getattr(filters, name))
    yield from (f"--label {key}={value}" for key, value in filters.labels)
    if filters.rejected:
        yield "--rejected"
    if filters.grep is not None:
        yield f"--grep {filters.grep!r}"
    for option, at in (("--since", filters.since), ("--until", filters.until)):
        if at is not None:
            yield f"{option} {iso_seconds(at)}"


def _from_stdin() -> list[str]:
    names = sys.stdin.read().split()
    if not names:
        raise UsageError("- reads episode ids from stdin, and there were none.")
    return names


def event_of(text: str) -> tuple[str, int | None]:
    """Split `EP:SEQ`; without a number the second is None."""
    episode, colon, seq = text.partition(":")
    if not episode:
        raise UsageError(
            f"an episode is named by its id or a unique prefix, found {text!r}; `spectrace ls` lists them."
        )
    if not colon:
        return episode, None
    if not seq.isascii() or not seq.isdigit():
        raise UsageError(f"an event is EP:SEQ with SEQ a number, found {text!r}.")
    return episode, int(seq)
