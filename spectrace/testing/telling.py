"""What a test is told of a replay that is not the same: the event, both sides, the cause, what comes nearest."""

from collections.abc import Sequence

from spectrace.runs.preflight import Checked
from spectrace.runs.replay import ReplayResult

_SHOWN = 5
"""Episodes that are told in full; of the others the ids."""


def divergence(one: ReplayResult) -> str:
    """Return where an episode left its record."""
    first = one.first_difference
    if first is None:
        return f"{one.episode}  {one.result}: {one.detail}"
    lines = [
        f"{one.episode}:{first.seq}  {first.field or 'another event'}  same up to {one.compared} of {one.total} events",
        f"  recorded  {first.recorded}",
        f"  now       {first.found}",
        f"  cause     {first.cause}",
    ]
    for near in first.nearest:
        differs = f"differs in {', '.join(near.differs)}" if near.differs else "is equal"
        lines.append(f"  nearest   {one.episode}:{near.seq}  {near.name} {differs}")
    return "\n".join(lines)


def divergences(results: Sequence[ReplayResult], total: int) -> str:
    """Return what is told of several episodes."""
    said = "\n\n".join(divergence(one) for one in results[:_SHOWN])
    more = [one.episode for one in results[_SHOWN:]]
    rest = f"\n\nand {', '.join(more)}" if more else ""
    return (
        f"{len(results)} of {total} {'episode' if total == 1 else 'episodes'} did not replay the same.\n\n{said}{rest}"
    )


def changes(episode: str, checked: Checked) -> str:
    """Return what is another thing than was recorded, found without running anything."""
    lines = [f"{episode}  {checked.detail}"]
    for one in checked.findings:
        if one.changed:
            lines += [f"  {one.kind}  {one.field}", f"    recorded  {one.recorded}", f"    now       {one.found}"]
    return "\n".join(lines)
