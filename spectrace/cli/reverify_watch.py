"""Progress of a re-verification: what each pass is asking right now, and how far the whole is."""

import time
from collections import Counter

from spectrace.audit.lines import counted
from spectrace.cli.console import Progress
from spectrace.core.events import Body, EpisodeEnded, EpisodeStarted, GenerateRequested, VerdictGiven
from spectrace.core.rereviews import scope_of
from spectrace.runs.pass_plan import Part
from spectrace.runs.passes import BUSY

_TALLY = "tally"
_SAID = 20
"""Troubles that are written out; the rest is counted."""


class PassWatch:
    """Told of every event of a run's children as it is written, and of each part as it ends."""

    def __init__(self, progress: Progress, total: int) -> None:
        """Show `total` reviews to be judged."""
        self._progress = progress
        self._total = total
        self._begun = time.monotonic()
        self._names: dict[str, str] = {}
        self._said: dict[str, Counter[str]] = {}
        self.given = 0
        self.troubles: list[str] = []
        self.elsewhere = 0
        """Parts that another process was judging."""

    def __call__(self, child: str, seq: int, body: Body) -> None:
        """Change the line of a child."""
        del seq
        match body:
            case EpisodeStarted():
                repeat = scope_of(body).repeat
                parent = body.parent.episode if body.parent is not None else child
                self._names[child] = parent + (f"  repeat {repeat}" if repeat > 1 else "")
            case GenerateRequested(position=position):
                self._progress.show(child, (self._names.get(child, child), "name"), f"  {position}: being judged")
            case VerdictGiven(outcome=outcome):
                self.given += 1
                self._said.setdefault(child, Counter())[outcome] += 1
                self._tally()
            case EpisodeEnded(outcome=outcome, reason=reason):
                self._progress.drop(child)
                self._ended(child, outcome, reason or "")
            case _:
                pass

    def _ended(self, child: str, outcome: str, reason: str) -> None:
        said = self._said.pop(child, Counter())
        verdicts = ", ".join(f"{n} {what}" for what, n in sorted(said.items())) or "no verdict"
        how = "" if outcome == "completed" else f"  {outcome} ({reason})"
        took = round(time.monotonic() - self._begun)
        count = f"{self.given} of {self._total}, {took} s"
        self._progress.note(f"{self._names.pop(child, child)}  {verdicts}{how}  [{count}]", "warning" if how else "dim")

    def part(self, part: Part) -> None:
        """Keep why something of a part is left."""
        if part.why == BUSY:
            self.elsewhere += 1
        elif part.why is not None:
            repeat = f" (repeat {part.repeat})" if part.repeat > 1 else ""
            self.troubles.append(f"{part.episode} was not judged to its end{repeat}: {part.why}")

    def say_troubles(self) -> list[str]:
        """Return what there is to say of what is left, not without end."""
        more = len(self.troubles) - _SAID
        return self.troubles[:_SAID] + (
            [f"{counted(more, 'part')} more were not judged to the end."] if more > 0 else []
        )

    def _tally(self) -> None:
        if self.given >= self._total:
            self._progress.drop(_TALLY)
            return
        took = time.monotonic() - self._begun
        left = round(took / self.given * (self._total - self.given))
        self._progress.show(
            _TALLY, (f"{self.given} of {self._total} judged", "strong"), f"  {round(took)} s, about {left} s to go"
        )
