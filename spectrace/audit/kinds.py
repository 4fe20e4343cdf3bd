"""Which kind of run a name stands for: recorded episodes, or a re-verification. Runs of both kinds are not compared."""

import difflib
from collections.abc import Sequence

from spectrace.audit.answers import Filters
from spectrace.audit.batches import begun
from spectrace.audit.queries import Reader
from spectrace.core.rereviews import REVERIFY
from spectrace.errors import UsageError


def are_reverified(reader: Reader, runs: Sequence[str]) -> bool:
    """Whether the runs are re-verifications; raise UsageError where one is not there, or some are and some are not."""
    for run in runs:
        _require_there(reader, run)
    kinds = {run: is_reverified(reader, run) for run in runs}
    if len(set(kinds.values())) > 1:
        told = "; ".join(f"{run} {'is a re-verification' if again else 'has episodes'}" for run, again in kinds.items())
        raise UsageError(
            f"runs of different kinds cannot be set side by side: {told}. Compare re-verifications with each other, "
            "and runs of episodes with each other."
        )
    return True in kinds.values()


def _require_there(reader: Reader, run: str) -> None:
    if any(True for _ in reader.iter_episodes(Filters(run=(run,)))):
        return
    names = {one.name for one in begun(reader.store)}
    if run not in names:
        names |= {one.run for one in reader.iter_episodes() if one.run is not None}
        near = difflib.get_close_matches(run, sorted(names), n=1)
        meant = f" (did you mean {near[0]}?)" if near else ""
        raise UsageError(f"no run is named {run!r}{meant}; `spectrace runs` lists them.")


def is_reverified(reader: Reader, run: str) -> bool:
    """Whether a run judges recorded reviews again. Without any episode it is what it was begun as."""
    recorded = {one.protocol == REVERIFY for one in reader.iter_episodes(Filters(run=(run,)))}
    if recorded:
        return False not in recorded
    return any(one.name == run and one.kind == REVERIFY for one in begun(reader.store))
