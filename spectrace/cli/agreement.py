"""The report of re-verifications, as `reverify` and `compare` print it: verdicts against each other, and statistics.

What a verifier did not judge is a class of its own: outside the shares, counted, and counted either way in the bounds.
"""

from collections.abc import Iterator, Sequence

from spectrace.audit.agreement_figures import Pair
from spectrace.audit.disagreements import Disagreement, disagreements
from spectrace.audit.lines import counted
from spectrace.audit.methods import methods
from spectrace.audit.reverified import Reverified
from spectrace.audit.sections import Section, sections
from spectrace.audit.visible import one_line
from spectrace.cli import console
from spectrace.cli.console import Column
from spectrace.core.types import Verdict

SHOWN = 20
"""Disagreements that a report writes out; all of them are in `reverify --json` and in the viewer."""
_FLEX = {"of": 8, "held action": 12, "rejected": 24, "left out": 12}
_RANK = {"95 %": 1, "bounds": 2, "too long": 1, "failed": 1, "context redacted": 1, "rejected": 2, "left out": 3}
_WORDS = frozenset({"", "of", "held action", "episode", "rejected", "left out"})
"""Columns of words: to the left."""


def show(found: Reverified) -> None:
    """Write the verdicts against each other, the statistics, how they were made, and the first disagreements."""
    if not any(one.reviews for one in found.runs):
        console.line("No review was there to judge again.")
        return
    for section in sections(found):
        _section(section)
    console.line(methods(found))
    pair = found.pairs[-1]
    _disagreements(pair, disagreements(found, pair))


def _section(section: Section) -> None:
    if section.kind != "statistics":  # those stand below the table of the same pair
        console.line((section.title, "name"))
    columns = [
        Column(one_line(name), rank=_RANK.get(name, 0), right=place > 0 and name not in _WORDS, flex=_flex(place, name))
        for place, name in enumerate(section.header)
    ]
    console.table(columns, section.rows, "")
    console.line()
    for words in section.notes:
        console.line(words)
    if section.notes:
        console.line()


def _flex(place: int, name: str) -> int:
    return 20 if place == 0 and not name else _FLEX.get(name, 0)


def _disagreements(pair: Pair, found: Sequence[Disagreement]) -> None:
    for one in found[:SHOWN]:
        episode, seq = one.place
        console.line()
        console.line((f"{episode}:{seq}", "name"), f"  segment {one.segment}, {counted(one.second.drafted, 'step')}")
        wide = max(map(len, pair.names)) + 1
        for who, verdict in zip(pair.names, (one.first, one.second), strict=True):
            console.line((f"{who:<{wide}}", "dim"), console.status_span(verdict.decision), _told(verdict), indent=2)
    if len(found) > SHOWN:
        console.line()
        console.line(
            f"{len(found) - SHOWN} more disagreements: `spectrace view` lists all, `reverify --json` has them."
        )


def _told(verdict: Verdict) -> str:
    return "".join(_parts(verdict))


def _parts(verdict: Verdict) -> Iterator[str]:
    if verdict.decision == "reject":
        yield f" step {verdict.accepted + 1} ({verdict.category})"
    if verdict.reason:
        yield f": {verdict.reason}"
