"""How the episodes of `spectrace run` are told: as a table, as JSON items, and what was left undone."""

from collections.abc import Sequence

from spectrace.audit.answers import EpisodeSummary
from spectrace.audit.lines import counted
from spectrace.cli import console
from spectrace.cli.console import Column, status_span
from spectrace.core.endings import infrastructure
from spectrace.runs.batch import Cell, Ended, NotRecorded

_COLUMNS = (
    Column("episode"),
    Column("task"),
    Column("trial", right=True, rank=4),
    Column("protocol", rank=1),
    Column("status"),
    Column("reason", rank=2),
    Column("reward", right=True),
    Column("steps", right=True, rank=1),
    Column("weak calls", right=True, rank=3),
    Column("strong calls", right=True, rank=3),
    Column("rejected", right=True, rank=2),
)
_LISTED = 10

Told = Ended | EpisodeSummary
"""An episode of this command, or one of the same run that was recorded earlier."""


def show(told: Sequence[Told]) -> None:
    """Write the episodes as a table."""
    console.table(_COLUMNS, [_row(item(one)) for one in told], "Nothing was run.")


def item(one: Told, error: str | None = None) -> dict[str, object]:
    """Return the JSON item of an episode; `error` is why it failed, or was not graded."""
    match one:
        case NotRecorded():
            end: tuple[object, ...] = ("not_recorded", str(one.error), None)
            counts: tuple[object, ...] = (0, 0, 0, 0, 0)
        case EpisodeSummary():
            end = one.status, one.end_reason, one.reward
            counts = one.steps, one.strong_calls, one.weak_calls, one.rejections, one.writes
        case _:
            end = one.outcome.status, one.outcome.reason, one.outcome.reward
            totals = one.totals
            counts = totals.steps, totals.strong_calls, totals.weak_calls, totals.rejections, totals.writes
    status, reason, reward = end
    # What is left out of scores has none to show: a 0.0 would be read as the agent's.
    end = status, reason, None if infrastructure(str(status), None if reason is None else str(reason)) else reward
    return {
        "episode": None if isinstance(one, NotRecorded) else one.episode,
        "task": one.task,
        "trial": one.trial,
        "protocol": one.protocol,
        **dict(zip(("status", "end_reason", "reward"), end, strict=True)),
        **dict(zip(("steps", "strong_calls", "weak_calls", "rejections", "writes"), counts, strict=True)),
        "earlier": isinstance(one, EpisodeSummary),
        "error": error,
    }


def _row(told: dict[str, object]) -> list[console.Cell]:
    if told["episode"] is None:
        begins: list[console.Cell] = [None, str(told["task"]), str(told["trial"]), str(told["protocol"])]
        return [*begins, ("not recorded", "bad"), *[None] * (len(_COLUMNS) - 5)]
    rejected = told["rejections"]
    return [
        (str(told["episode"]), "name"),
        str(told["task"]),
        str(told["trial"]),
        str(told["protocol"]),
        status_span(str(told["status"])),
        _text(told["end_reason"]),
        _text(told["reward"]),
        str(told["steps"]),
        str(told["weak_calls"]),
        str(told["strong_calls"]),
        (str(rejected), "bad") if rejected else str(rejected),
    ]


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def in_order(cells: Sequence[Cell], told: Sequence[Told]) -> list[Told]:
    """Return the episodes in the order of their cells, whoever ended first."""
    place = {cell.key: number for number, cell in enumerate(cells)}
    return sorted(told, key=lambda one: place[one.task, one.trial, one.protocol])


def say_left(left: Sequence[Cell], stopped: str | None) -> None:
    """Say why the run stopped, and what is left undone."""
    if stopped is not None:
        console.say(f"Stopped: {_why(stopped)}", style="error")
    if left:
        named = ", ".join(_cell(cell) for cell in left[:_LISTED])
        more = f" and {len(left) - _LISTED} more" if len(left) > _LISTED else ""
        console.say(f"Left undone: {counted(len(left), 'episode')}: {named}{more}.", style="warning")


def say_how_to_go_on(name: str | None) -> None:
    """Say what the next command is."""
    if name is None:
        console.say("A run that has a --name goes on where it stopped; this one had none.")
    else:
        console.say(f"The same command with --name {name!r} goes on where it stopped.")


def _why(stopped: str) -> str:
    match stopped:
        case "run_max_cost_usd":
            return "the run has cost what --max-cost-usd allows, all that its name was given together."
        case "run_max_wall_s":
            return "the run has taken what --max-wall-s allows."
        case "cost_unknown":
            return _uncounted("money", "--max-cost-usd or -o max_cost_usd")
        case "tokens_unknown":
            return _uncounted("tokens", "-o max_tokens")
        case failing:
            return failing if failing.endswith(".") else f"{failing}."


def _uncounted(what: str, option: str) -> str:
    return (
        f"a server did not count its tokens, so nobody can keep to a limit of {what}. Drop {option}, or use a model "
        "whose server counts them (in a script: `usage`); with another -o or model, a named run needs another --name."
    )


def _cell(cell: Cell) -> str:
    trial = f" #{cell.trial}" if cell.trial else ""
    return f"{cell.task.id}{trial} ({cell.protocol.NAME})"
