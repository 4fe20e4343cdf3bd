"""The agreement table of a re-verification: recorded verdicts against new ones, and the statistics of PROTOCOL 7.

E1 is agreement over all reviews, each in its recorded context; E2 how long episodes stay the same. What a verifier did
not judge is a class of its own: outside the shares, counted, and counted either way in the bounds.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from spectrace.audit.lines import counted
from spectrace.cli import console
from spectrace.cli.agreement_rows import Row, notes, rows_of
from spectrace.cli.console import Column
from spectrace.runs.reverify import Recheck
from spectrace.stats.agreement import categories, left_out
from spectrace.stats.bootstrap import TaskBootstrap
from spectrace.stats.judgements import Review
from spectrace.stats.survival import by_episode, fates, turning

_ALWAYS = ("accept", "reject", "unusable")
_KINDS = (*_ALWAYS, "too_long", "failed", "context_redacted")
_NONE = "not judged"


def show(
    rechecks: Sequence[Recheck], reviews: Sequence[Review], *, only_rejected: bool, again: Sequence[Review] = ()
) -> None:
    """Write the verdicts against each other, the statistics, and each disagreement."""
    if not reviews:
        console.line("No review was there to judge again.")
        return
    _crossed(reviews)
    rows = rows_of(reviews, TaskBootstrap(), only_rejected=only_rejected, again=again)
    if rows:
        console.line()
        _statistics(rows)
    console.line()
    for words in (*notes(rows), *summary(reviews, only_rejected=only_rejected)):
        console.line(words)
    _disagreements(rechecks)


def summary(reviews: Sequence[Review], *, only_rejected: bool) -> Iterator[str]:
    """Yield the sentences under the tables."""
    out = left_out(reviews)
    if out:
        yield f"Left out: {_listed((_words(kind), n) for kind, n in out.items())}; the bounds count them either way."
    derived = sum(one.recorded is None for one in reviews)
    if derived:
        yield f"{derived} in no agreement: nobody judged them when they were recorded (derived segments)."
    if only_rejected:
        yield "Of rejections alone nothing follows for accepts."
    else:
        yield from _effects(reviews)
    yield "Agreement is not accuracy: both may be wrong together."


def _effects(reviews: Sequence[Review]) -> Iterator[str]:
    crossed = categories(reviews).most_common()
    if crossed:
        pairs = _listed((f"{old} > {new}", n) for (old, new), n in crossed)
        yield f"Rejected by both, category recorded > new: {pairs}."
    turned = [(group, one) for group in by_episode(reviews) if (one := turning(group)) is not None]
    later = sum(other.number > one.number for group, one in turned for other in group)
    if later:
        yield (
            f"{later} came after a review that came out differently, or nobody knows: the episode would have gone "
            "another way by then."
        )
    found = fates(reviews)
    if found["let_through"] or found["stopped"] or found["unknown"]:
        yield (
            f"Held writes at the review where an episode turns: {found['let_through']} let through that were stopped, "
            f"{found['stopped']} stopped that ran, {found['same']} as before, {found['unknown']} unknown."
        )


def _crossed(reviews: Sequence[Review]) -> None:
    counts: Counter[tuple[str, str]] = Counter(
        (_NONE if one.recorded is None else one.recorded.kind, one.new.kind) for one in reviews
    )
    rows: list[list[console.Cell]] = [
        [
            _words(recorded),
            *(counts[recorded, new] if new in _ALWAYS else counts[recorded, new] or None for new in _KINDS),
        ]
        for recorded in (*_KINDS, _NONE)
        if any(counts[recorded, new] for new in _KINDS)
    ]
    columns = [Column(_words(new), rank=0 if new in _ALWAYS else 1, right=True) for new in _KINDS]
    console.table([Column("recorded \\ new"), *columns], rows, "")


def _statistics(rows: Sequence[Row]) -> None:
    columns = [
        Column("", flex=20),
        Column("value", right=True),
        Column("95 %", rank=1),
        Column("bounds", rank=2),
        Column("of", flex=8),
        Column("tasks", right=True),
    ]
    console.table(columns, [[one.title, one.value, one.interval, one.bounds, one.of, one.tasks] for one in rows], "")


def _words(kind: str) -> str:
    return kind.replace("_", " ")


def _listed(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{n} {what}" for what, n in counts)


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
