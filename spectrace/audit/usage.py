"""What an episode's model calls used, by role and by model: calls, attempts, tokens; an unknown count is never 0.

An episode pays for its own calls only: those that it took from a record or a cache stand apart, and a second verdict
on its drafts is an episode of its own. A retry inside a call is an attempt, a question put again because its answer
could not be read is a call; both are counted, and shown apart. `costing` adds up many episodes under a cache model.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields

from spectrace.core.events import (
    EpisodeStarted,
    Event,
    GenerateCompleted,
    GenerateFailed,
    GenerateRequested,
    ReplyUnusable,
)
from spectrace.core.money import Rates, Spent, cost_of, never_billed, never_sent, rates_by_model
from spectrace.core.types import Usage

OWN = frozenset({"live", "import"})
"""Sources of a call that was made for this very episode."""


@dataclass(slots=True)
class Tokens:
    """A sum of one kind of token, and of how many calls it is not known."""

    known: int = 0
    unknown: int = 0

    def add(self, count: int | None) -> None:
        """Add one call's."""
        if count is None:
            self.unknown += 1
        else:
            self.known += count

    @property
    def exact(self) -> int | None:
        """The sum where every call said its count."""
        return None if self.unknown else self.known


@dataclass(slots=True)
class Used:
    """What the calls of one role to one model used."""

    role: str
    who: str
    model: str
    """As the server names it, else as it was asked for."""
    own: bool
    """Whether this episode made the calls."""
    calls: int = 0
    """Answered or failed, also those that a budget refused before they were sent."""
    failed: int = 0
    asked_again: int = 0
    """Of these: put again because the answer before could not be read."""
    attempts: int = 0
    """Sent over the wire, the last of each call included; none where a budget refused it."""
    tokens: dict[str, Tokens] = field(default_factory=lambda: {one.name: Tokens() for one in fields(Usage)})
    """input, cached, output and reasoning."""
    spent: Spent = field(default_factory=Spent)

    def add(self, body: GenerateCompleted | GenerateFailed, rates: Rates | None, *, again: bool) -> None:
        """Count one call."""
        self.calls += 1
        self.failed += isinstance(body, GenerateFailed)
        self.asked_again += again
        self.attempts += 0 if never_sent(body) else max(len(body.attempts), 1)
        for name, tokens in self.tokens.items():
            tokens.add(0 if never_billed(body) else getattr(body.usage, name))
        self.spent = self.spent.plus(cost_of(body, rates))


def usage_of(events: Iterable[Event]) -> list[Used]:
    """Return what an episode's calls used, in the order in which role and model first met."""
    found: dict[tuple[str, str, str, bool], Used] = {}
    asked: dict[int, GenerateRequested] = {}
    names: dict[str, str] = {}
    rates: dict[str, Rates | None] = {}
    again: set[tuple[str, str]] = set()
    """(role, position) of what is to be asked again."""
    repeated: set[int] = set()
    for event in events:
        match event.body:
            case EpisodeStarted(models=models) as body:
                names, rates = {facts.role: facts.name for facts in models}, dict(rates_by_model(body))
            case GenerateRequested(role=role, position=position) as body:
                asked[event.seq] = body
                if (role, position) in again:
                    again.remove((role, position))
                    repeated.add(event.seq)
            case ReplyUnusable(request=request, next="asked_again") if request in asked:
                again.add((asked[request].role, asked[request].position))
            case GenerateCompleted(request=request) | GenerateFailed(request=request) as body if request in asked:
                who = asked[request].who
                named = body.model if isinstance(body, GenerateCompleted) else None
                key = (body.role, who, named or names.get(who, "unknown"), body.source in OWN)
                used = found.setdefault(key, Used(*key))
                used.add(body, rates.get(who), again=request in repeated)
            case _:
                pass
    return list(found.values())
