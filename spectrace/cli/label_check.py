"""Whether the labels of a run that begins are meant of what is there: before anything of it is recorded.

A label that nothing can use is a mistake in a gold set: a misspelt episode, or one that a spreadsheet has turned into a
number. Labels of other episodes of the same log are fine: one file may serve several runs.
"""

from collections.abc import Sequence

from spectrace.errors import EpisodeNotFound, UsageError
from spectrace.models.labels import LabelJudge, listed
from spectrace.runs.pass_estimate import Estimate
from spectrace.runs.verifiers import JudgePool, Pool
from spectrace.store.event_store import EventStore


def require_meant(pool: Pool, store: EventStore, found: Estimate, *, only_rejected: bool) -> None:
    """Raise UsageError for labels of what is not in the log, or of no selected review; others than labels pass."""
    if not isinstance(pool, JudgePool) or not isinstance(judge := pool.judge, LabelJudge):
        return
    wrong = [f"line {line}: {why}" for name, line in judge.strangers().items() if (why := _unknown(store, name))]
    if wrong:
        raise UsageError(f"{judge.name}: {' '.join(_first(wrong))} Correct these lines or delete them.")
    if (strange := judge.strange()) and not only_rejected:
        lines = f"line{'s' if len(strange) > 1 else ''} {listed([str(line) for line in strange])}"
        raise UsageError(
            f"{judge.name}, {lines}: the episode is there and has no such review. Correct verdict_seq and segment, or "
            "delete the line; `reverify --template` writes them as they are."
        )
    if found.reviews and found.left_out == found.reviews:
        raise UsageError(
            f"{judge.name} has no label of any of the reviews that are selected. Select the episodes that were "
            "labelled, or fill in decision of theirs."
        )


def _unknown(store: EventStore, beginning: str) -> str | None:
    try:
        store.resolve(beginning)
    except EpisodeNotFound as error:
        return str(error)
    return None


def _first(wrong: Sequence[str]) -> list[str]:
    shown = 3
    return [*wrong[:shown], *([f"And {len(wrong) - shown} more."] if len(wrong) > shown else [])]
