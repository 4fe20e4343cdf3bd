"""Re-verification of one episode: its recorded reviews put to another verifier, in the context the first one saw.

A pass over one episode is a child episode of its own, in a named run; nothing recorded is edited. The verdicts are
compared by what they decide; agreement is not accuracy. Many episodes, repeats and going on: `passes`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from spectrace.core.commands import Protocol
from spectrace.core.events import EpisodeStarted, Event, Parent
from spectrace.core.fold import Episode, fold
from spectrace.core.options import recorded_options
from spectrace.core.prompts import PROTOCOL_REVISION, Prompts
from spectrace.core.rereviews import REVERIFY, Scope, answers_of, asked_of, scope_of, selected
from spectrace.core.review_request import review_requests
from spectrace.core.reviews import Review, agrees, differs, rereview
from spectrace.core.roles import Budget, Desk, Manner
from spectrace.core.setup import setup_of
from spectrace.core.types import ModelFacts, Outcome, Verdict
from spectrace.errors import StoreError, UsageError
from spectrace.models.client import ModelClient
from spectrace.redaction.filing import require_plain
from spectrace.redaction.redactor import Redactor
from spectrace.redaction.values import redacted
from spectrace.runs.drive import Driver
from spectrace.runs.live import Prices, begin, describe, new_episode_id, run_recorded, versions
from spectrace.runs.purse import Purse, require_prices
from spectrace.runs.recorder import Watcher
from spectrace.runs.redacting import redacting
from spectrace.runs.verifiers import Pool, covers, pool_of, verifier_source
from spectrace.store.event_store import EventStore
from spectrace.store.process import operator

__all__ = [
    "REVERIFY",
    "Recheck",
    "asks_again",
    "child_reviews",
    "child_started",
    "compare_reviews",
    "desk_of",
    "parent_at",
    "rechecks_of",
    "reverify_episode",
]


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
    repeat: int = 1


async def reverify_episode(  # noqa: PLR0913 - what a re-verification is made of
    events: Sequence[Event],
    verifier: ModelClient | Pool,
    store: EventStore,
    run: str,
    *,
    prompts: Prompts | None = None,
    scope: Scope | None = None,
    prices: Prices | None = None,
    purse: Purse | None = None,
    concurrency: int | None = None,
    watch: Watcher | None = None,
    redactor: Redactor | None = None,
) -> tuple[list[Recheck], Outcome]:
    """Judge an episode's reviews again and record them as a child episode of `run`.

    `prompts` replaces the recorded ones. `scope` says which reviews, which time, and how verdicts are read; its
    segments are found here. What a `purse` does not pay is refused, and ends the child. An episode without anything to
    review gives an empty list and no child; what the verifier, people's labels, says nothing of is left out.
    """
    episode, pool, scope = fold(events), pool_of(verifier), scope or Scope()
    every = selected(episode, only_rejected=scope.only_rejected)
    requests = review_requests(episode.id, setup_of(episode.started), every)
    reviews = [one for one, request in zip(every, requests, strict=True) if covers(pool, request)]
    if not reviews:
        return [], Outcome("completed", "nothing_to_review")
    client = pool.client(episode.id)
    (facts,) = await describe({"strong": client}, None, prices)
    purse = purse or Purse()
    require_prices([facts], [purse])
    scope = replace(scope, segments=tuple(one.segment for one in reviews))
    first = replace(child_started(episode, facts, run, scope, prompts, redactor), concurrency=concurrency)
    recorder, writer = await begin(store, new_episode_id(), first, watch)
    asked = review_requests(episode.id, setup_of(first), reviews)
    judging = verifier_source(pool, episode.id, asked, client, [facts], [purse])
    driver = Driver(redacting(judging, None if redactor is None else redactor.fresh()), recorder, "live")
    outcome = await run_recorded(driver, asks_again(first, reviews), recorder, writer)
    return rechecks_of(run, list(store.read(recorder.episode, prompts=False)), events), outcome


def compare_reviews(  # noqa: PLR0913 - what both sides are
    run: str,
    episode: str,
    child: str,
    reviews: Sequence[Review],
    verdicts: Mapping[int, Verdict],
    repeat: int = 1,
) -> list[Recheck]:
    """Set the new verdicts beside the recorded ones; what was not judged is left out, and unknown to those after it."""
    rechecks: list[Recheck] = []
    counterfactual = False
    for item in reviews:
        new = verdicts.get(item.segment)
        if new is not None:
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
                    repeat=repeat,
                )
            )
        turned = new is None or differs(item, new)
        counterfactual = counterfactual or (not item.derived and turned)
    return rechecks


def rechecks_of(run: str, child: Sequence[Event], parent: Sequence[Event]) -> list[Recheck]:
    """Return what one child judged, from both logs; of a run with several children `audit.passes` tells the whole."""
    again, original = fold(child), fold(parent)
    verdicts = {said.segment: said.verdict for said in answers_of(child) if said.verdict is not None}
    scope = scope_of(again.started)
    reviews = selected(original, only_rejected=scope.only_rejected)
    return compare_reviews(run, original.id, again.id, reviews, verdicts, scope.repeat)


def desk_of(started: EpisodeStarted) -> Desk:
    """Return the reviewer's desk of a re-verification: no budget, its verifier as the strong model.

    The layout of the prompts is the parent's, so that the verifier reads what the first reviewer read. Its verdict is
    semantic, however the first one was found, and decoded, which is the question that can be put to any model, or
    where the child says so scored.
    """
    layout, scope = str((recorded_options(started.options) or {}).get("prompts", "shared")), scope_of(started)
    manner = Manner(prompts=layout, verdict=scope.verdict, threshold=scope.threshold)
    return Desk(setup_of(started), Budget(max_steps=2**31), manner=manner)


def child_reviews(child: EpisodeStarted, parent: Sequence[Event]) -> list[Review]:
    """Return the reviews that a recorded re-verification went through, from its parent's log as it was then."""
    until = child.parent.seq if child.parent is not None else None
    return asked_of(scope_of(child), fold(parent if until is None else [one for one in parent if one.seq <= until]))


def asks_again(child: EpisodeStarted, reviews: Sequence[Review]) -> Protocol[Outcome]:
    """Return the generator of a child; before children named their segments, a prompt that did not fit ended them."""
    return rereview(desk_of(child), reviews, each=scope_of(child).segments is not None)


def child_started(  # noqa: PLR0913 - what it judges, who judges, and how
    episode: Episode,
    verifier: ModelFacts,
    run: str,
    scope: Scope,
    prompts: Prompts | None,
    redactor: Redactor | None = None,
) -> EpisodeStarted:
    """Return event 0 of a child that judges `scope` of an episode, as it is now, for a run.

    What it takes over from its parent stays as it is there, redacted or not: the verifier sees what the first one saw.
    """
    parent = episode.started
    if not run:
        raise UsageError("a re-verification needs a name: --name N.")
    if redactor is not None:
        require_plain(redactor.rules, {"the run": run})
    segments = {} if scope.segments is None else {"segments": list(scope.segments)}
    scored = {} if scope.scored_at is None else {"verdict": scope.verdict, "threshold": scope.threshold}
    options = {"only_rejected": scope.only_rejected, "repeat": scope.repeat} | segments | scored | _layout(parent)
    return replace(
        parent,
        started_by=operator(),
        operator=None,
        concurrency=None,
        protocol=REVERIFY,
        protocol_revision=PROTOCOL_REVISION,
        options=json.dumps(options),
        prompts=prompts.to_json() if prompts is not None else Prompts.from_json(parent.prompts).to_json(),
        models=(redacted(redactor, verifier),),
        run=run,
        versions=versions(redactor),
        parent=Parent(REVERIFY, episode.id, episode.events - 1, run),
        origin=None,
    )


def _layout(parent: EpisodeStarted) -> dict[str, str]:
    """Return the parent's layout of prompts where it is not the usual one."""
    layout = str((recorded_options(parent.options) or {}).get("prompts", "shared"))
    return {} if layout == "shared" else {"prompts": layout}


def parent_at(store: EventStore, episode: str, head: str | None) -> list[Event]:
    """Return an episode's events as they were when its chain ended with `head`, without prompts.

    Raises StoreError where its chain never did: another episode of that name, or a log that was cut.
    """
    row = store.row(episode)
    if head is None or row.head.hex() == head:
        return list(store.read(episode, 0, row.events, prompts=False))
    wanted = bytes.fromhex(head)
    for links in store.links(episode):
        for seq, *_, link in links:
            if link == wanted:
                return list(store.read(episode, 0, seq + 1, prompts=False))
    raise StoreError(
        f"episode {episode} is not the one that the run selected: no event of its {row.events} has the link "
        f"{head[:12]}.... `spectrace verify {episode}` says whether it is whole; another --name judges it as it is."
    )
