"""What `spectrace replay` tells of its results: a table, each divergence with both sides and its cause, the totals."""

from collections import Counter
from collections.abc import Sequence

from spectrace.cli import console
from spectrace.cli.console import Column, status_span
from spectrace.core.observation_classes import ORDER
from spectrace.runs.divergence import Difference
from spectrace.runs.replay import ReplayResult

_COLUMNS = (
    Column("episode"),
    Column("result"),
    Column("compared", right=True, rank=1),
    Column("at", right=True, rank=2),
    Column("detail", flex=36),
)

_LISTED = 100
"""Rows of a table that somebody reads."""


def show(results: Sequence[ReplayResult], *, observed: bool = False) -> None:
    """Write the results as a table, of each divergence both sides, and of several episodes a summary.

    Of very many episodes those that are exactly the same are counted, not listed. `observed`: an environment answered
    anew; then the classes of its answers are counted, and those that are not exact are named.
    """
    listed = results if len(results) <= _LISTED else [one for one in results if _is_news(one)]
    rows: list[list[console.Cell]] = [
        [
            (one.episode, "name"),
            status_span(one.result),
            f"{one.compared} of {one.total}",
            one.first_difference.seq if one.first_difference else None,
            one.detail,
        ]
        for one in listed
    ]
    if rows or not results:
        console.table(_COLUMNS, rows, "No episode passes.")
    for one in listed:
        if one.first_difference is not None and one.first_difference.recorded:
            _report(one, one.first_difference)
    if observed:
        _classes(results)
    if len(results) > 1:
        console.line()
        console.line((summary(results), "strong"))
    if len(listed) < len(results):
        left_out = len(results) - len(listed)
        console.say(f"{left_out} episodes that are the same are not listed; --json lists every one.", style="dim")


def _is_news(one: ReplayResult) -> bool:
    return one.result != "same" or bool(one.inexact or one.live)


def _classes(results: Sequence[ReplayResult]) -> None:
    """Write what the environment answered otherwise, and how many of its answers are of each class."""
    inexact = [(result, one) for result in results for one in result.inexact]
    console.line()
    for result, one in inexact[:_LISTED]:
        notes = "; ".join(one.notes) or ("the same JSON" if one.kind == "json-equal" else "another answer")
        console.line((f"{result.episode}:{one.seq}", "name"), "  ", (one.kind, "strong"), f"  {notes}", hang=2)
    if len(inexact) > _LISTED:
        console.line((f"and {len(inexact) - _LISTED} more; --json lists every one", "dim"))
    count: Counter[str] = Counter()
    for result in results:
        count.update(result.classes)
    said = ", ".join(f"{count[kind]} {kind}" for kind in ORDER)
    console.line(("answers   ", "dim"), said, hang=10)


def _report(one: ReplayResult, first: Difference) -> None:
    """Write where an episode left its record, both sides, and what comes nearest."""
    console.line()
    same = f"  same up to {one.compared} of {one.total} {'actions' if one.live else 'events'}"
    console.line(
        (f"{one.episode}:{first.seq}", "name"),
        "  ",
        (first.field or ("another action" if one.live else "another event"), "strong"),
        (same, "dim"),
    )
    console.line(("recorded  ", "dim"), (first.recorded, "good"), indent=2)
    console.line(("now       ", "dim"), (first.found, "bad"), indent=2)
    console.line(("cause     ", "dim"), first.cause, indent=2, hang=10)
    for near in first.nearest:
        differs = f"differs in {', '.join(near.differs)}" if near.differs else "is equal"
        console.line(
            ("nearest   ", "dim"), (f"{one.episode}:{near.seq}", "name"), f"  {near.name} {differs}", indent=2, hang=10
        )


def summary(results: Sequence[ReplayResult]) -> str:
    """Return the totals of several replays in one line."""
    count = Counter(one.result for one in results)
    said = ", ".join(f"{count[name]} {name}" for name in ("same", "diverged", "untestable") if count[name])
    compared, total = sum(one.compared for one in results), sum(one.total for one in results)
    if live := sum(one.live for one in results):
        asked = f"{live} live answer{'s' if live > 1 else ''}"
        return f"{len(results)} episodes: {said}. {compared} of {total} actions are the same. Tainted: {asked}."
    observations = sum(one.observations for one in results)
    return f"{len(results)} episodes: {said}. {compared} of {total} events are the same, {observations} observations."


def item(one: ReplayResult) -> dict[str, object]:
    """Return the JSON item of a result."""
    return {
        "episode": one.episode,
        "result": one.result,
        "compared": one.compared,
        "total": one.total,
        "observations": one.observations,
        "first_difference": None if one.first_difference is None else _difference(one.first_difference),
        "classes": dict(one.classes) or None,
        "inexact": [{"seq": found.seq, "class": found.kind, "notes": list(found.notes)} for found in one.inexact],
        "live_answers": one.live,
        "tainted": one.live > 0,
        "normalised": [
            {"seq": found.seq, "asked": found.asked, "rules": list(found.rules)} for found in one.normalised
        ],
        "cost_usd": one.cost_usd,
        "detail": one.detail,
    }


def _difference(first: Difference) -> dict[str, object]:
    return {
        "seq": first.seq,
        "field": first.field,
        "recorded": first.recorded,
        "found": first.found,
        "cause": first.cause,
        "nearest": [{"seq": near.seq, "name": near.name, "differs": list(near.differs)} for near in first.nearest],
    }
