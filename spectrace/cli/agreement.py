"""The agreement table of a re-verification: recorded verdicts against new ones. No intervals here: `compare` has them.

E1 of PROTOCOL section 7: agreement over all reviews, each in its recorded context. Unusable ones are a class of their
own and stand outside the share that agrees.
"""

from collections import Counter
from collections.abc import Sequence

from spectrace.audit.lines import counted
from spectrace.cli import console
from spectrace.cli.console import Column
from spectrace.runs.reverify import Recheck

_DECISIONS = ("accept", "reject", "unusable")
_NONE = "not judged"


def show(rechecks: Sequence[Recheck], *, only_rejected: bool) -> None:
    """Write the table, the share that agrees, and each disagreement."""
    if not rechecks:
        console.line("No review was there to judge again.")
        return
    counts = Counter((_recorded(one), one.new.decision) for one in rechecks)
    rows: list[list[console.Cell]] = [
        [recorded, *(counts[recorded, new] for new in _DECISIONS)]
        for recorded in (*_DECISIONS, _NONE)
        if any(counts[recorded, new] for new in _DECISIONS)
    ]
    columns = [Column("recorded \\ new"), *(Column(new, right=True) for new in _DECISIONS)]
    console.table(columns, rows, "")
    for words in summary(rechecks, only_rejected=only_rejected):
        console.line(words)
    _disagreements(rechecks)


def summary(rechecks: Sequence[Recheck], *, only_rejected: bool) -> list[str]:
    """Return the sentences under the table."""
    compared = [one for one in rechecks if one.agree is not None]
    agree = sum(bool(one.agree) for one in compared)
    said: list[str] = []
    if only_rejected:
        again = sum(one.new.decision == "reject" for one in compared)
        said.append(
            f"Of {len(compared)} recorded rejections the new verifier rejects {again}. This says nothing of accepts."
        )
    elif compared:
        said.append(f"Accept everything, yes or no: {agree} of {len(compared)} agree.")
    both = [one for one in compared if one.recorded and one.recorded.decision == one.new.decision == "reject"]
    if both:
        same = sum(one.recorded is not None and one.recorded.accepted == one.new.accepted for one in both)
        said.append(f"Both reject {len(both)}; {same} of them at the same step.")
    left_out = len(rechecks) - len(compared)
    if left_out:
        said.append(f"{left_out} left out: unusable, or nobody judged them when they were recorded (derived segments).")
    later = sum(one.counterfactual for one in rechecks)
    if later:
        said.append(
            f"{later} came after a review that came out differently: the episode would have gone another way by then."
        )
    said.append("Agreement is not accuracy: both may be wrong together.")
    return said


def _recorded(one: Recheck) -> str:
    return _NONE if one.recorded is None else one.recorded.decision


def _disagreements(rechecks: Sequence[Recheck]) -> None:
    for one in rechecks:
        if one.agree is not False or one.recorded is None:
            continue
        console.line()
        console.line(
            (f"{one.episode}:{one.verdict_seq}", "name"), f"  segment {one.segment}, {counted(one.new.drafted, 'step')}"
        )
        for who, verdict in (("recorded", one.recorded), ("new", one.new)):
            why = f": {verdict.reason}" if verdict.reason else ""
            where = f" step {verdict.accepted + 1} ({verdict.category})" if verdict.decision == "reject" else ""
            console.line((f"{who:<10}", "dim"), console.status_span(verdict.decision), f"{where}{why}", indent=2)
