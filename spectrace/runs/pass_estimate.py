"""What a re-verification run will take, before anything is asked: reviews, calls, prompt tokens, dollars; all `about`.

A recorded review that is asked again in its own prompts has as many tokens as its reviewer's server counted; for every
other one the prompt is rendered and a token is taken for four characters. An answer that cannot be read costs a call
more. A scored verdict decodes nothing where all is accepted, and a rejection asks a second time, for its reason: how
many are rejected is taken from the record. Episodes are read one after the other and not kept.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from spectrace.core.events import Event, GenerateCompleted, VerdictGiven
from spectrace.core.fold import Episode, fold
from spectrace.core.money import rates_of
from spectrace.core.rereviews import is_rejected, left_to_parents, selected
from spectrace.core.review_request import review_requests
from spectrace.core.reviewing import review_messages
from spectrace.core.reviews import Review
from spectrace.core.roles import Desk
from spectrace.core.setup import setup_of
from spectrace.core.types import Message, ModelFacts, Usage
from spectrace.errors import StoreError
from spectrace.runs.passes import Rejudging
from spectrace.runs.reverify import child_started, desk_of, parent_at
from spectrace.runs.verifiers import covers
from spectrace.store.arbiter import WHOLE

_CHARACTERS = 4
"""Of a token, where nobody counted."""
_NO_TOKENS = frozenset({"function", "labels"})
"""Who judges without reading a prompt."""


@dataclass(slots=True)
class Estimate:
    """What a run selects, what of it is judged, and what the rest will take."""

    episodes: int = 0
    reviews: int = 0
    """Selected, each as often as it is judged."""
    before: int = 0
    """Of these judged already."""
    left_out: int = 0
    """Of these the verifier says nothing: people's labels."""
    prompt_tokens: int = 0
    counted: int = 0
    """Calls whose prompt was counted by a server when it was recorded; of the others characters were."""
    output_tokens: int = 0
    written: int = 0
    """Calls of which it is recorded how much the first reviewer wrote, or known that nothing is."""
    reasons: int = 0
    """Second calls: the reasons of scored rejections, if those are rejected that were when they were recorded."""
    parents: int = 0
    """Reviews of forked and resumed episodes that are their parents', and are judged there."""
    unread: dict[str, str] = field(default_factory=dict)
    """Episode -> why it cannot be read."""

    @property
    def calls(self) -> int:
        """How many reviews are asked now."""
        return self.reviews - self.before - self.left_out

    def micro_usd(self, facts: ModelFacts) -> int | None:
        """Return what the prompts, and what is known of the answers, cost by a model's price; None without one."""
        rates = rates_of(facts.price)
        if rates is None:
            return None
        return int(self.prompt_tokens * rates.input + self.output_tokens * rates.output)


def estimate(work: Rejudging, facts: ModelFacts, episodes: Iterable[str]) -> Estimate:
    """Look into every episode of a run that begins, or goes on; raise UsageError for a label that cannot be meant."""
    found = Estimate()
    for episode in episodes:
        found.episodes += 1
        try:
            _add(found, work, facts, episode)
        except StoreError as error:
            found.unread[episode] = str(error)
    return found


def _add(found: Estimate, work: Rejudging, facts: ModelFacts, episode: str) -> None:
    counted: dict[int, set[int]] = {repeat: set() for repeat in range(1, work.plan.repeat + 1)}
    whole: set[int] = set()
    for item in work.arbiter.items(episode):
        if item.verdict_seq == WHOLE:
            # Labels are all looked up: those left out before may be there now, and what none is of is told.
            if facts.provider != "labels":
                whole.add(item.repeat)
        else:
            counted.setdefault(item.repeat, set()).add(item.verdict_seq)
    left = [repeat for repeat in range(1, work.plan.repeat + 1) if repeat not in whole]
    for repeat in whole:
        found.reviews += len(counted[repeat])
        found.before += len(counted[repeat])
    if left:
        _look(found, work, facts, episode, [counted[repeat] for repeat in left])


def _look(found: Estimate, work: Rejudging, facts: ModelFacts, episode: str, counted: list[set[int]]) -> None:
    events = parent_at(work.store, episode, work.arbiter.head(episode))
    parent = fold(events)
    reviews = selected(parent, only_rejected=work.plan.only_rejected)
    found.parents += left_to_parents(parent, only_rejected=work.plan.only_rejected)
    recorded = _recorded(events) if work.prompts is None else {}
    desk = _desk(work, facts, parent)
    for one, request in zip(reviews, review_requests(episode, setup_of(parent.started), reviews), strict=True):
        times = sum(one.key not in those for those in counted)
        found.reviews += len(counted)
        found.before += len(counted) - times
        covered = covers(work.pool, request)  # asked of those judged before too: labels keep count of what they are of
        if times and not covered:
            found.left_out += times
        elif times and facts.provider not in _NO_TOKENS:
            _count(found, desk, one, recorded.get(one.key, Usage()), times)


def _count(found: Estimate, desk: Desk, one: Review, usage: Usage, times: int) -> None:
    scored, asked = desk.manner.verdict == "scored", times
    if scored and is_rejected(one):
        found.reasons += times
        asked = 2 * times
    if usage.input is None:
        found.prompt_tokens += asked * _tokens(review_messages(desk, one.history, one.steps))
    else:
        found.prompt_tokens += asked * usage.input
        found.counted += times
    if scored and one.recorded is not None and one.recorded.accepts_all:
        found.written += times
    elif usage.output is not None:
        found.output_tokens += times * usage.output
        found.written += times


def _desk(work: Rejudging, facts: ModelFacts, parent: Episode) -> Desk:
    return desk_of(child_started(parent, facts, work.plan.run, work.plan.scope(), work.prompts))


def _recorded(events: Iterable[Event]) -> Mapping[int, Usage]:
    """Return what each recorded verdict's call used, by the verdict's event."""
    usages: dict[int, Usage] = {}
    found: dict[int, Usage] = {}
    for event in events:
        match event.body:
            case GenerateCompleted(request=request, usage=usage):
                usages[request] = usage
            case VerdictGiven(review=int(request)) if request in usages:
                found[event.seq] = usages[request]
            case _:
                pass
    return found


def _tokens(messages: Iterable[Message]) -> int:
    characters = sum(len(one.content) + sum(len(call.arguments) for call in one.calls) for one in messages)
    return -(-characters // _CHARACTERS)
