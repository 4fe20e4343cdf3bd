"""Options that several commands share, and the filters that `ls` and its kin take."""

import functools
import math
import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import click

from spectrace.audit.answers import Filters
from spectrace.audit.queries import Reader, open_reader
from spectrace.cli.console import say
from spectrace.config import database_url
from spectrace.core.options import MOST
from spectrace.errors import UsageError

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

json_option = click.option("--json", "as_json", is_flag=True, help="Write one JSON document to stdout.")
db_option = click.option(
    "--db",
    metavar="URL",
    help="The log: sqlite:///FILE, a path or postgresql://... [default: SPECTRACE_DB, spectrace.toml, spectrace.db]",
)
output_option = click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), metavar="FILE", help="The file to write."
)
force_option = click.option("--force", is_flag=True, help="Replace the file if it is there.")


def whole(least: int) -> click.IntRange:
    """Return the type of a whole number that any database and any timer can hold."""
    return click.IntRange(min=least, max=MOST)


class Seconds(click.FloatRange):
    """A time in seconds, of at least 0."""

    def __init__(self, *, min_open: bool = False) -> None:
        """`min_open`: 0 itself is not allowed."""
        super().__init__(min=0, max=MOST, min_open=min_open)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse nan, which is in every range."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number of seconds.", param, ctx)
        return number


class Reward(click.FloatRange):
    """A reward: any number but nan and the infinities, with which nothing can be compared."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse what is no finite number."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


def dollars(_ctx: click.Context, _param: click.Parameter, text: str | None) -> str | None:
    """Refuse what is no amount of money: the callback of an option."""
    try:
        amount = Decimal(text or "0")
    except InvalidOperation:
        amount = Decimal(-1)
    if not amount.is_finite() or not 0 <= amount <= MOST:
        raise click.BadParameter(f"expected US dollars, for example 2.50, found {text!r}.")
    return text


checkpoint_option = click.option(
    "--checkpoint-every",
    type=whole(0),
    help="For hybrid models: a prefix is found only at every so many tokens; 0: where a prompt or an answer ended.",
)
STATUSES = ("completed", "truncated", "failed", "interrupted", "running", "unknown")
_AGO = re.compile(r"(\d+)([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}

_FILTERS: Mapping[str, Decorator] = {
    "status": click.option("--status", multiple=True, type=click.Choice(STATUSES), help="How the episode stands."),
    "env": click.option("--env", multiple=True, metavar="ENV", help="The environment's name."),
    "protocol": click.option("--protocol", multiple=True, metavar="NAME", help="The protocol's name."),
    "model": click.option("--model", multiple=True, metavar="TEXT", help="Part of the name of one of its models."),
    "task": click.option("--task", multiple=True, metavar="TASK", help="The task's id."),
    "project": click.option("--project", multiple=True, metavar="NAME", help="The project that it is filed under."),
    "label": click.option("--label", multiple=True, metavar="KEY=VALUE", help="A label that it carries."),
    "run": click.option("--run", multiple=True, metavar="NAME", help="The named run that it belongs to."),
    "rejected": click.option("--rejected", is_flag=True, help="Only episodes with a rejection."),
    "tool": click.option("--tool", multiple=True, metavar="TOOL", help="A tool that was drafted or called."),
    "grep": click.option("--grep", metavar="TEXT", help="A text in any event, upper and lower case alike."),
    "since": click.option(
        "--since", metavar="TIME", help="Started at or after: 2026-11-30, 2026-11-30T12:00, or 2h, 7d ago."
    ),
    "until": click.option("--until", metavar="TIME", help="Started before."),
}


def reading(db: str | None) -> Reader:
    """Open the log that `--db` names, to read it; of evidence that is not read in place, say which and its digest."""
    return open_reader(database_url(db), told=say)


def filter_options(*, without: tuple[str, ...] = ()) -> Decorator:
    """Give a command `ls`'s filters; it gets them as one value, `filters`."""
    names = [name for name in _FILTERS if name not in without]

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **given: Any) -> Any:
            return function(*args, filters=_filters(names, given), **given)

        decorated: Callable[..., Any] = wrapped
        for name in reversed(names):
            decorated = _FILTERS[name](decorated)
        return decorated

    return decorate


def _filters(names: list[str], given: dict[str, Any]) -> Filters:
    """Take the filters' values out of a command's arguments."""
    values = {name: given.pop(name) for name in names}
    values["labels"] = tuple(label_of(text) for text in values.pop("label", ()))
    values["since"], values["until"] = moment(values.get("since")), moment(values.get("until"))
    return Filters(**values)


def label_of(text: str) -> tuple[str, str]:
    """Split KEY=VALUE."""
    key, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"--label takes KEY=VALUE, found {text!r}.")
    return key, value


def seconds_of(text: str) -> float:
    """Return the seconds of a duration: 90s, 5m, 2h, 7d, 4w."""
    found = _AGO.fullmatch(text)
    if found is None or not int(found[1]):
        raise UsageError(f"a duration is 90s, 5m, 2h, 7d or 4w; found {text!r}.")
    return float(min(int(found[1]) * _SECONDS[found[2]], MOST))


def moment(text: str | None) -> int | None:
    """Return UTC microseconds of an ISO time (UTC where it names no zone), or of `2h` as two hours ago."""
    if text is None:
        return None
    ago = _AGO.fullmatch(text)
    if ago is not None:
        return time.time_ns() // 1000 - int(ago[1]) * _SECONDS[ago[2]] * 1_000_000
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"a time is 2026-11-30, 2026-11-30T12:00:00Z, or 90s, 5m, 2h, 7d, 4w ago; found {text!r}."
        ) from None
    known = parsed if parsed.tzinfo is not None else parsed.replace(tzinfo=UTC)
    return round(known.timestamp() * 1_000_000)
