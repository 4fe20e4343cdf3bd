"""START HERE: SpecAgent, readable beside PROTOCOL.md section 2.

A weak model drafts; reads run at once; the first action that would change the world is *held*; a strong model
reviews the segment in one pass, commits the longest valid prefix and repairs the first rejected step. This module is
the whole control flow: `drafting.py` lets the weak model write, `reviewing.py` asks for the verdict, `repairs.py` puts
the strong model's own step in place; `steps.py` executes and commits, `commands.py` holds the verbs.
"""

from dataclasses import dataclass
from itertools import count
from typing import ClassVar

from spectrace.core import commands, facts
from spectrace.core.commands import Protocol, tell
from spectrace.core.drafting import Drafting, abandon, draft_segment
from spectrace.core.events import SegmentCommitted, StepsDiscarded
from spectrace.core.repairs import Rejection, corrective, repair
from spectrace.core.reviewing import review
from spectrace.core.roles import Desk, Ended
from spectrace.core.setup import Setup
from spectrace.core.specagent_options import SpecAgentOptions
from spectrace.core.steps import Ledger, finish_episode
from spectrace.core.types import Outcome, Segment, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecAgent(SpecAgentOptions):
    """The protocol and its options, as recorded in `episode.started` (PROTOCOL section 2, Options)."""

    NAME: ClassVar[str] = "specagent"
    MODELS: ClassVar[tuple[str, ...]] = ("weak", "strong")

    def run(self, setup: Setup) -> Protocol[Outcome]:
        """Return the generator of one episode."""
        return finish_episode(_episode(self, Desk(setup, self.budget, manner=self.manner)))


def _episode(options: SpecAgent, desk: Desk) -> Protocol[Outcome]:
    """Until the episode ends: draft a segment; commit it unreviewed, or review it and commit, execute or repair."""
    ledger = Ledger(desk, (yield from commands.reset(desk.setup.seed)))
    unreviewed, still_open = 0, tuple[Segment, ...]()  # the latter: unreviewed=revisable, not settled yet
    for index in count(1):
        if ledger.outcome is not None:
            return ledger.outcome
        try:
            seen = ledger.history.then(*_steps(still_open))
            segment = yield from draft_segment(Drafting(options, desk, ledger, seen, index))
            reached = (*still_open, segment)
            if not options.reviews(segment, unreviewed):
                unreviewed += len(segment.steps)
                if options.leaves_open(segment):
                    still_open = reached
                    continue
                still_open = ()
                yield from _commit_unreviewed(ledger, reached)
                if segment.reason == "unusable_draft":
                    yield from corrective(desk, ledger, index, None)
                continue

            try:
                verdict, asked = yield from review(desk, ledger.history, _steps(reached), f"s{index}")
            except Ended as ended:
                yield from abandon(segment, ended)
                raise
        except Ended:
            yield from _commit_unreviewed(ledger, still_open)
            raise
        given = yield from tell(facts.verdict_given(verdict, index, asked))
        unreviewed, still_open = 0, ()
        yield from _settle(ledger, reached, verdict.accepted, _discarding(verdict.status))
        if not verdict.accepts_all:
            rejection = Rejection(verdict, given, _steps(reached)[verdict.accepted], asked)
            if options.feedback == "reason" and verdict.reason is not None:
                ledger.note(verdict.reason)
            yield from repair(options, desk, ledger, index, rejection)
        elif segment.reason == "held":
            held = segment.steps[-1]
            authority = desk.authority(asked, f"verdict:{given}")
            yield from ledger.execute_and_commit(held.action, held.effect, authority, held.position)
        elif segment.reason == "unusable_draft":
            yield from corrective(desk, ledger, index, given)
    raise AssertionError  # count() has no end


def _steps(segments: tuple[Segment, ...]) -> tuple[Step, ...]:
    return tuple(step for segment in segments for step in segment.steps)


def _discarding(status: str) -> str:
    return "unusable" if status == "unusable" else "rejected"


def _settle(ledger: Ledger, segments: tuple[Segment, ...], accepted: int, reason: str) -> Protocol[None]:
    """Commit the first `accepted` steps, counted over the segments, and discard the rest."""
    for segment in segments:
        kept = min(accepted, len(segment.steps))
        accepted -= kept
        yield from _commit(ledger, segment, kept, reviewed="yes")
        if kept < len(segment.steps):
            rest = StepsDiscarded(segment=segment.index, start=kept + 1, end=len(segment.steps), reason=reason)
            yield from tell(rest)


def _commit_unreviewed(ledger: Ledger, segments: tuple[Segment, ...]) -> Protocol[None]:
    for segment in segments:
        yield from _commit(ledger, segment, len(segment.steps), reviewed="no")


def _commit(ledger: Ledger, segment: Segment, upto: int, *, reviewed: str) -> Protocol[None]:
    """Commit steps 1..upto; a held one joins the history when it is executed."""
    if upto == 0:
        return
    yield from tell(SegmentCommitted(segment=segment.index, start=1, end=upto, reviewed=reviewed))
    ledger.commit(*(step for step in segment.steps[:upto] if step.observation is not None))
