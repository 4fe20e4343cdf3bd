"""What `spectrace replay` tells of its results: a table, each divergence with both sides and its cause, the totals."""

from collections import Counter
from collections.abc import Sequence

from spectrace.cli import console
from spectrace.cli.console import Column, status_span
from spectrace.runs.divergence import Difference
from spectrace.runs.replay import ReplayResult

_COLUMNS = (
    Column("episode"),
    Column("result"),
    Column("compared", right=True, rank=1),
    Column("at", right=True, rank=2),
    Column("detail", flex=36),
)


def show(results: Sequence[ReplayResult]) -> None:
    """Write the results as a table, of each divergence both sides, and of several episodes a summary."""
    rows: list[list[console.Cell]] = [
        [
            (one.episode, "name"),
            status_span(one.result),
            f"{one.compared} of {one.total}",
            one.first_difference.seq if one.first_difference else None,
            one.detail,
        ]
        for one in results
    ]
    console.table(_COLUMNS, rows, "No episode passes.")
    for one in results:
        if one.first_difference is not None and one.first_difference.recorded:
            _report(one, one.first_difference)
    if len(results) > 1:
        console.line()
        console.line((summary(results), "strong"))


def _report(one: ReplayResult, first: Difference) -> None:
    """Write where an episode left its record, both sides, and what comes nearest."""
    console.line()
    same = f"  same up to {one.compared} of {one.total} events"
    console.line(
        (f"{one.episode}:{first.seq}", "name"), "  ", (first.field or "another event", "strong"), (same, "dim")
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
