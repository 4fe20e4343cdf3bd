"""Re-verification: put every recorded review to another verifier, in exactly the context that the first one saw.

A pass over one episode is a child episode of its own, in a named run; nothing recorded is edited. The verdicts are
compared by what they decide; agreement is not accuracy.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from spectrace.core.events import EpisodeStarted, Event, Parent, VerdictGiven
from spectrace.core.fold import Episode, fold, verdict_of
from spectrace.core.prompts import PROTOCOL_REVISION, Prompts
from spectrace.core.reviews import Review, agrees, differs, rereview, reviews_of
from spectrace.core.roles import Budget, Desk, Manner
from spectrace.core.setup import setup_of
from spectrace.core.types import ModelFacts, Outcome, Verdict
from spectrace.errors import UsageError
from spectrace.models.client import ModelClient
from spectrace.runs.drive import Driver
from spectrace.runs.live import begin, describe, new_episode_id, run_recorded, versions
from spectrace.runs.recorder import Watcher
from spectrace.runs.sources import ModelSource
from spectrace.store.event_store import EventStore
from spectrace.store.process import operator

REVERIFY = "reverify"
"""The protocol name of a re-verification's child episode."""


@dataclass(frozen=True, slots=True)
class Recheck:
    """One review, judged again. `counterfactual`: an earlier review of the episode was decided differently."""

    run: str
    episode: str
    child: str
    segment: int
    verdict_seq: int | None
    derived: bool
    recorded: Verdict | None
    new: Verdict
    agree: bool | None
    counterfactual: bool


async def reverify_episode(  # noqa: PLR0913 - what a re-verification is made of
    events: Sequence[Event],
    verifier: ModelClient,
    store: EventStore,
    run: str,
    *,
    prompts: Prompts | None = None,
    only_rejected: bool = False,
    watch: Watcher | None = None,
) -> tuple[list[Recheck], Outcome]:
    """Judge an episode's reviews again and record them as a child episode of `run`.

    `prompts` replaces the recorded ones. An episode without anything to review gives an empty list and no child.
    """
    episode = fold(events)
    reviews = _selected(episode, only_rejected=only_rejected)
    if not reviews:
        return [], Outcome("completed", "nothing_to_review")
    (facts,) = await describe({"strong": verifier}, None)
    first = _started(episode, facts, run, prompts, only_rejected=only_rejected)
    verdicts: dict[int, Verdict] = {}

    def collect(name: str, seq: int, body: object) -> None:
        if isinstance(body, VerdictGiven):
            verdicts[body.segment] = verdict_of(body)
        if watch is not None:
            watch(name, seq, body)  # type: ignore[arg-type]

    again = rereview(desk_of(first), reviews)
    recorder, writer = await begin(store, new_episode_id(), first, collect)
    driver = Driver(ModelSource({"strong": verifier}), recorder, "live")
    outcome = await run_recorded(driver, again, recorder, writer)
    return compare_reviews(run, episode.id, recorder.episode, reviews, verdicts), outcome


def compare_reviews(
    run: str, episode: str, child: str, reviews: Sequence[Review], verdicts: Mapping[int, Verdict]
) -> list[Recheck]:
    """Set the new verdicts beside the recorded ones; reviews that were not reached are left out."""
    rechecks: list[Recheck] = []
    counterfactual = False
    for item in reviews:
        new = verdicts.get(item.segment)
        if new is None:
            break
        rechecks.append(
            Recheck(
                run=run,
                episode=episode,
                child=child,
                segment=item.segment,
                verdict_seq=item.verdict_seq,
                derived=item.derived,
                recorded=item.recorded,
                new=new,
                agree=agrees(item.recorded, new),
                counterfactual=counterfactual,
            )
        )
        counterfactual = counterfactual or (not item.derived and differs(item.recorded, new))
    return rechecks


def rechecks_of(run: str, child: Sequence[Event], parent: Sequence[Event]) -> list[Recheck]:
    """Return a recorded re-verification's rows again, from both logs."""
    again, original = fold(child), fold(parent)
    reviews = _recorded_selection(again.started, original)
    verdicts = {event.body.segment: verdict_of(event.body) for event in child if isinstance(event.body, VerdictGiven)}
    return compare_reviews(run, original.id, again.id, reviews, verdicts)


def desk_of(started: EpisodeStarted) -> Desk:
    """Return the reviewer's desk of a re-verification: no budget, its verifier as the strong model.

    The layout of the prompts is the parent's, so that the verifier reads what the first reviewer read. Its verdict is
    semantic and decoded, however the first one was found: that is the question which can be put to any model.
    """
    layout = str(json.loads(started.options).get("prompts", "shared"))
    return Desk(setup_of(started), Budget(max_steps=2**31), manner=Manner(prompts=layout))


def child_reviews(child: EpisodeStarted, parent: Sequence[Event]) -> list[Review]:
    """Return the reviews that a recorded re-verification went through, from its parent's log."""
    return _recorded_selection(child, fold(parent))


def _recorded_selection(child: EpisodeStarted, parent: Episode) -> list[Review]:
    return _selected(parent, only_rejected=bool(json.loads(child.options)["only_rejected"]))


def _selected(episode: Episode, *, only_rejected: bool) -> list[Review]:
    """Return the reviews to judge: asking, comparing and replaying must all choose the same ones."""
    return [item for item in reviews_of(episode) if not only_rejected or _rejected(item)]


def _rejected(item: Review) -> bool:
    return item.recorded is not None and item.recorded.decision == "reject"


def _layout(parent: EpisodeStarted) -> dict[str, str]:
    """Return the parent's layout of prompts where it is not the usual one."""
    layout = json.loads(parent.options).get("prompts", "shared")
    return {} if layout == "shared" else {"prompts": layout}


def _started(
    episode: Episode, verifier: ModelFacts, run: str, prompts: Prompts | None, *, only_rejected: bool
) -> EpisodeStarted:
    parent = episode.started
    if not run:
        raise UsageError("a re-verification needs a name: --name N.")
    return replace(
        parent,
        started_by=operator(),
        protocol=REVERIFY,
        protocol_revision=PROTOCOL_REVISION,
        options=json.dumps({"only_rejected": only_rejected} | _layout(parent)),
        prompts=prompts.to_json() if prompts is not None else Prompts.from_json(parent.prompts).to_json(),
        models=(verifier,),
        run=run,
        versions=versions(),
        parent=Parent(REVERIFY, episode.id, episode.events - 1, run),
        origin=None,
    )
