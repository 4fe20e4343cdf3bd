"""What a test sees of an agent's episode: the same whether it was run just now or replayed."""

from collections.abc import Sequence
from dataclasses import dataclass

from spectrace.core.events import ActCompleted, ActRequested, EpisodeEnded, Event, Totals
from spectrace.core.types import Action, Observation, Outcome


@dataclass(frozen=True, slots=True)
class AgentRun:
    """One episode of the agent under test."""

    episode: str
    outcome: Outcome
    totals: Totals
    events: tuple[Event, ...]
    replayed: bool
    """Whether it came from the recording: then no model and no environment was reached."""

    @classmethod
    def of(cls, events: Sequence[Event], *, replayed: bool) -> "AgentRun":
        """Read the end of an episode."""
        ended = events[-1].body
        if not isinstance(ended, EpisodeEnded):
            raise AssertionError(f"episode {events[0].episode} has no end: its run was killed. Record it anew.")  # noqa: TRY004 - a test's failure
        outcome = Outcome(ended.outcome, ended.reason, ended.answer, ended.reward)
        return cls(events[0].episode, outcome, ended.totals, tuple(events), replayed)

    @property
    def acts(self) -> list[tuple[Action, Observation | None]]:
        """What was done, in order, with what came of it: None where there was no answer."""
        answers = {one.body.request: one.body.observation for one in self.events if isinstance(one.body, ActCompleted)}
        return [(one.body.action, answers.get(one.seq)) for one in self.events if isinstance(one.body, ActRequested)]

    def told(self, type_: str) -> list[Event]:
        """Return the events of a type: `told("verdict.given")`."""
        return [one for one in self.events if one.type == type_]
