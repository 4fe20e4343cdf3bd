"""What the audit answers with: frozen values, no rows and no SQL. Times are UTC microseconds (`_at`).

The command line and the viewer draw these and nothing else.
"""

from dataclasses import dataclass

from spectrace.core.types import Action, Observation
from spectrace.store.erasures import Erasure


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which episodes. Every condition must hold; an empty one asks nothing."""

    status: tuple[str, ...] = ()
    """completed, truncated, failed, interrupted, running; unknown where its end cannot be read."""
    env: tuple[str, ...] = ()
    protocol: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    """A part of the name of any of the episode's models."""
    task: tuple[str, ...] = ()
    project: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    run: tuple[str, ...] = ()
    rejected: bool = False
    """Only episodes in which a verdict rejected something."""
    tool: tuple[str, ...] = ()
    """Only episodes in which one of these tools was drafted or called."""
    grep: str | None = None
    """Only episodes that hold this text in any event, upper and lower case alike."""
    since: int | None = None
    until: int | None = None
    limit: int | None = None
    after: str | None = None
    """Go on after this episode of the same listing."""
    sort: str = "-started_at"
    """A field of EpisodeSummary; a dash in front turns the order round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeSummary:
    """One line about an episode."""

    episode: str
    started_at: int
    ended_at: int | None
    status: str
    """completed, truncated, failed, interrupted, running; unknown where its end cannot be read."""
    end_reason: str | None
    env: str
    task: str
    trial: int
    protocol: str
    weak: str | None
    strong: str | None
    project: str
    labels: tuple[tuple[str, str], ...]
    run: str | None
    events: int
    steps: int
    segments: int | None
    """Those that exist; None where nobody counted them: no event closed one, and no projection of today is there."""
    reviews: int
    writes: int
    rejections: int
    unusable: int
    repairs: int
    weak_calls: int
    strong_calls: int
    reward: str | None
    cost_usd: str | None = None
    """What its own model calls cost, once it has ended; None where a price or a count is unknown."""
    cost_usd_at_least: str | None = None
    """What is known of a cost that is known in part."""
    stated_usd: str | None = None
    """What the file that it was imported from says that it cost: that file's word."""
    parent: str | None = None
    """The episode that this one was forked from, re-verifies or goes on with."""
    parent_seq: int | None = None
    origin: str | None = None
    """The file that it was imported from."""


@dataclass(frozen=True, slots=True)
class EventLine:
    """One line of a timeline. `summary` is recorded text: show it as `visible` makes it."""

    seq: int
    at: int
    lane: str
    type: str
    effect: str | None
    authority: str | None
    outcome: str | None
    tool: str | None
    summary: str


@dataclass(frozen=True, slots=True)
class EventDetail:
    """One event in full. `header` and `body` as people read them, `stored_*` as the chain covers them."""

    episode: str
    seq: int
    type: str
    version: int
    at: int
    lane: str
    effect: str | None
    authority: str | None
    outcome: str | None
    tool: str | None
    body: str
    """JSON text, indented, every long text and message in its place; `null` when erased."""
    link: str
    """This event's link of the chain, hex."""
    stored_header: str
    stored_body: str | None
    """Canonical JSON text: long texts and messages by reference. None when erased."""
    salt: str | None
    """Hex."""
    unknown: tuple[tuple[str, str], ...] = ()
    """Fields that this spectrace does not know: (where, JSON text). They are in `stored_body`, not in `body`."""
    erasure: Erasure | None = None
    """The record of its erasure; None where it is not erased, or no record says so."""

    @property
    def erased(self) -> bool:
        """Whether the body was erased."""
        return self.stored_body is None


@dataclass(frozen=True, slots=True)
class WhyStep:
    """One step of a reviewed segment, as drafted, or one action of its repair."""

    number: int
    position: str
    action: Action
    effect: str
    observation: Observation | None
    """None where it never ran."""
    held: bool
    fate: str
    """committed, discarded, open."""
    seq: int
    """The event that wrote the step."""
    act_seq: int | None
    """The act.requested event, where it reached the environment."""
    reasoning: str | None = None
    objection: str | None = None
    """Why it was never sent."""
    changed: bool | None = None
    """Whether the state changed when it ran; None where it did not run, or nothing says so."""
    probability: str | None = None
    """That it is right, by a scored verdict; as recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyItem:
    """One review and all that led to it and followed from it."""

    episode: str
    request: str
    """What the user asked for."""
    segment: int
    verdict_seq: int
    review_seq: int | None
    drafted: int
    accepted: int
    decision: str
    """accept, reject, unusable."""
    status: str
    cause: str | None
    category: str | None
    reason: str | None
    raw: str
    weak: str | None
    strong: str | None
    earlier: int
    """Steps that stood in the history before the segment."""
    closed: str | None
    """Why the segment closed."""
    steps: tuple[WhyStep, ...]
    repair_seq: int | None
    repair_kind: str | None
    fused_unusable: str | None
    repair: tuple[WhyStep, ...]
    end_status: str
    end_reason: str | None
    reward: str | None
    edited_by: str | None = None
    """The person who put the verdict in place of the model's."""
    taken_over: bool = False
    """Whether a fork took it over from its parent's record."""

    @property
    def rejected(self) -> WhyStep | None:
        """The first rejected step; None where every step stands."""
        if self.decision == "accept" or self.accepted >= len(self.steps):
            return None
        return self.steps[self.accepted]

    @property
    def repair_outcome(self) -> str | None:
        """ok, error, indeterminate or never: of the repair's last action that was sent."""
        if not self.repair:
            return None
        sent = [step for step in self.repair if step.act_seq is not None]
        if not sent:
            return "never"
        last = sent[-1].observation
        return "indeterminate" if last is None else "error" if last.error else "ok"


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A named run: live episodes, or the children of a re-verification.

    It is counted in cells, of which each is done, failed, running or left: a (task, trial, protocol), however often it
    was begun; of a re-verification a repeat of an episode that is judged again; of an import an episode.
    """

    run: str
    kind: str
    """run, import or reverify."""
    selection: str
    """What it is about, in words."""
    selection_digest: str
    """Over the sorted (environment, task, trial), or for a re-verification (episode, head), as the run keeps it; where
    no run does, over (episode, its last event's number)."""
    started_at: int
    total: int
    """What was asked for, by all commands of that name together, and what was recorded beside it."""
    done: int
    """Has its result: an end that says something of the agent, so that going on leaves it as it is."""
    failed: int
    """Has none although it was begun: its infrastructure failed, or it was interrupted or cut by the run's limits."""
    left: int
    """Nothing of it is recorded."""
    episodes: int
    """Recorded, superseded ones among them."""
    reviews: int
    rejections: int
    unusable: int
    cost_usd: str | None
    """None where that of an episode is unknown."""
    state: str
    """running: an episode is being written; stopped: none is, and not all that was asked for is done; else ended."""
    cost_usd_at_least: str | None = None
    """What is known of a cost that is known in part."""
    stated_usd: str | None = None
    """What imported files say that it cost, where they do: their word."""


@dataclass(frozen=True, slots=True)
class RejectionCount:
    """How often drafts were rejected (or their review was unusable) for the same reason."""

    key: tuple[str, ...]
    """One value for each thing counted by, in the order asked."""
    n: int
    episodes: int
    example: str
    """`EP:SEQ` of the most recent one."""
