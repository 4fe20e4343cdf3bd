"""What a recorded environment answered, as answers for another run: by the action and its place among the writes.

A *place* is how many writes (whatever is no pure read) had run before: what was read before a write is no answer to
the same read after it. Of several answers to one action at one place the asking lane's own comes first, then the order
in which they were asked for; each is given once. What is not there is a miss, which says why and what comes nearest:
nothing is ever answered by guess, and a write of the record is answered and never done.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from spectrace.core.commands import Act
from spectrace.core.compare import differences
from spectrace.core.events import ActCompleted, ActFailed, ActionChecked, ActRequested, EffectObserved, Event
from spectrace.core.facts import tool_of
from spectrace.core.matching import EXACT, match
from spectrace.core.prompts import written
from spectrace.core.types import Action, Call, Effect
from spectrace.runs.divergence import Difference, Nearest
from spectrace.runs.drive import LogEnds

_NEAREST = 3
_PATHS = 3
_LONGEST = 120


@dataclass(slots=True)
class Kept:
    """A recorded question to the environment with its answer, if it got one."""

    seq: int
    lane: str
    asked: ActRequested
    place: int
    moves: bool
    """Whether the place of what follows is the next one."""
    answer: ActCompleted | ActFailed | None = None
    used: bool = False


@dataclass(frozen=True, slots=True)
class Normalised:
    """A recorded answer that was given to a call that is written otherwise, by the rules named."""

    seq: int
    asked: str
    rules: tuple[str, ...]


class Missed(LogEnds):
    """The record holds no answer to an action; `difference` says where it went on, and what comes nearest."""

    def __init__(self, difference: Difference, *, unanswered: bool = False) -> None:
        """Keep what there is to tell. `unanswered`: it was asked for then, too, and got no answer."""
        super().__init__(difference.cause)
        self.difference = difference
        self.unanswered = unanswered


@dataclass(slots=True)
class CachedAnswers:
    """The recorded answers of one episode, each to be given once."""

    kept: list[Kept]
    objections: list[tuple[Action, str | None]]
    last: int
    """The number of the record's last event."""
    lenient: bool = False
    """Whether calls that are written otherwise match, by named rules (`core.matching`)."""
    place: int = 0
    normalised: list[Normalised] = field(default_factory=list)
    _early: list[tuple[Kept, Kept]] = field(default_factory=list)
    """Answers that were asked for before an earlier one of their lane: (the earlier one, that one)."""

    @classmethod
    def of(cls, events: Sequence[Event], *, lenient: bool = False) -> "CachedAnswers":
        """Read the answers off a record."""
        by_request: dict[int, Kept] = {}
        objections: list[tuple[Action, str | None]] = []
        place = 0
        for event in events:
            match event.body:
                case ActRequested() as asked:
                    moves = asked.effect != Effect.READ
                    by_request[event.seq] = Kept(event.seq, event.lane, asked, place, moves)
                case ActCompleted(request=request) | ActFailed(request=request) if request in by_request:
                    by_request[request].answer = event.body
                    place += by_request[request].moves
                case EffectObserved(request=request) if request in by_request and not by_request[request].moves:
                    by_request[request].moves = True
                    place += 1
                case ActionChecked(action=action, objection=objection):
                    objections.append((action, objection))
                case _:
                    pass
        return cls(list(by_request.values()), objections, events[-1].seq, lenient)

    def answer(self, lane: str, command: Act) -> ActCompleted | ActFailed:
        """Give the recorded answer to an action at this place; raise Missed where there is none left."""
        found = self._matching(lane, command.action, command.requestor)
        if found is None or found[0].answer is None:
            raise Missed(self._miss(lane, command.action), unanswered=found is not None)
        kept, rules = found
        if rules != EXACT:
            self.normalised.append(Normalised(kept.seq, in_short(command.action), rules))
        earlier = next((one for one in self._unused(kept.lane) if one.seq < kept.seq), None)
        if earlier is not None and earlier.place == kept.place:
            self._early.append((earlier, kept))
        kept.used = True
        self.place += kept.moves
        return found[0].answer

    def objection(self, action: Action) -> tuple[bool, str | None]:
        """Return whether the action was checked in the record, and the objection to it."""
        found = next((one for one in self.objections if match(one[0], action) == EXACT), None)
        if found is None:
            return False, None
        self.objections.remove(found)
        return True, found[1]

    def left(self) -> list[Kept]:
        """Return the questions that nobody asked."""
        return [one for one in self.kept if not one.used]

    @property
    def used(self) -> int:
        """How many answers were given."""
        return sum(one.used for one in self.kept)

    def reordered(self) -> Difference | None:
        """Return where the same calls came in another order; one that never came is left over, not reordered."""
        for earlier, early in self._early:
            if earlier.used:
                return Difference(
                    early.seq,
                    "",
                    f"{in_short(earlier.asked.action)}, then {in_short(early.asked.action)}",
                    f"{in_short(early.asked.action)}, then {in_short(earlier.asked.action)}",
                    f"The same calls in another order: each has the answer that it has in the record (events "
                    f"{earlier.seq} and {early.seq}).",
                )
        return None

    def left_over(self) -> Difference | None:
        """Return the first recorded question that nobody asked."""
        left = self.left()
        if not left:
            return None
        others = f" ({len(left) - 1} more are left over)" if len(left) > 1 else ""
        first = left[0]
        return Difference(
            first.seq, "", in_short(first.asked.action), "never asked", f"The run ended without it{others}."
        )

    def _unused(self, lane: str) -> Iterator[Kept]:
        return (one for one in self.kept if not one.used and one.lane == lane)

    def _matching(self, lane: str, action: Action, requestor: str) -> tuple[Kept, tuple[str, ...]] | None:
        here = [
            one for one in self.kept if not one.used and one.place == self.place and one.asked.requestor == requestor
        ]
        here.sort(key=lambda one: one.lane != lane)  # stable: in the order asked
        for exact in (True, False) if self.lenient else (True,):
            for one in here:
                rules = match(one.asked.action, action)
                if rules is not None and (rules == EXACT) is exact:
                    return one, rules
        return None

    def _miss(self, lane: str, action: Action) -> Difference:
        following = next(self._unused(lane), None) or next((one for one in self.kept if not one.used), None)
        return Difference(
            self.last if following is None else following.seq,
            "",
            "the end" if following is None else in_short(following.asked.action),
            in_short(action),
            self._why(action),
            self._nearest(action),
        )

    def _why(self, action: Action) -> str:
        """Say why there is none: asked for more often, at another place, never answered, or written otherwise."""
        equal = [one for one in self.kept if match(one.asked.action, action) == EXACT]
        here = [one for one in equal if one.place == self.place]
        if (broken := next((one.seq for one in here if not one.used), None)) is not None:
            return f"The record has no answer to event {broken}: it broke off there."
        if here:
            events = ", ".join(str(one.seq) for one in here)
            return f"Already used: the record answers it {_times(len(here))} at this place (events {events})."
        if equal:
            others = ", ".join(f"event {one.seq} after {_writes(one.place)}" for one in equal[:_NEAREST])
            return (
                f"Recorded at another place among the writes only ({others}); here {_writes(self.place)} ran before it."
            )
        for one in self.kept:
            rules = match(one.asked.action, action)
            if rules is not None and one.place == self.place and not one.used:
                return f"Not recorded: event {one.seq} differs in {', '.join(rules)} only, which --lenient lets match."
        return "Not recorded."

    def _nearest(self, action: Action) -> tuple[Nearest, ...]:
        ranked = sorted(
            (
                (differences(one.asked.action, action), one)
                for one in self.kept
                if type(one.asked.action) is type(action)
            ),
            key=lambda pair: (
                tool_of(pair[1].asked.action) != tool_of(action),
                len(pair[0]),
                abs(pair[1].place - self.place),
                pair[1].seq,
            ),
        )
        return tuple(
            Nearest(one.seq, in_short(one.asked.action), tuple(path for path, _, _ in differs[:_PATHS]))
            for differs, one in ranked[:_NEAREST]
        )


def in_short(action: Action) -> str:
    """Return an action as it is shown: `get_order({"order_id": "W200"})`, or the words of a reply or an end."""
    text = f"{action.tool}({action.arguments})" if isinstance(action, Call) else written(action)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _writes(count: int) -> str:
    return "1 write" if count == 1 else f"{count} writes"
