"""One episode's events, indexed once for all the rules that ask of them. Counterpart of `rules`, which lists those.

An Account is the events themselves, in order, and beside them what was drafted, held, judged, repaired, sent and
answered. It takes any log: what cannot be read (erased, unknown, missing) is left out and counted, and `whole` says
whether what is not there was not told. Rules that rest on an absence ask that first.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import overload

from spectrace.core.deeds import FROM_THE_RECORD
from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    ActionHeld,
    ActRequested,
    EffectObserved,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    GenerateCompleted,
    GenerateRequested,
    OutcomeSettled,
    RepairMade,
    SegmentClosed,
    SegmentCommitted,
    StateMoved,
    StepDrafted,
    StepsDiscarded,
    StepSpeculated,
    ToolsChanged,
    Unknown,
    VerdictGiven,
)
from spectrace.core.setup import Setup, setup_of
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Action, Effect, Message, ToolSpec
from spectrace.core.versions import CLASSES
from spectrace.errors import SpectraceError

UNKNOWN = "unknown"
"""The authority of an act whose recording named none, as imports do not."""
AGENT = frozenset({"weak", "strong"})
"""Who of an episode's models are the agent."""
_RUNS = frozenset({"specagent", "weak-only", "strong-only", "speculative-actions", "agentcollab"})
"""Protocols whose law is known here. Of other programs' recordings only what holds of every log is asked."""

Prompts = Callable[[int], Iterable[Event]]
"""Reads the events behind one again, this time with their prompts."""

Found = tuple[int, str] | tuple[int, str, str]
"""The number of an event, how it breaks a rule, and the severity where it is not the rule's own."""


@dataclass(slots=True)
class Act:
    """An action of the agent that was sent. Of an erased one there is only what the header says."""

    seq: int
    lane: str
    effect: str
    authority: str
    tool: str | None
    position: str | None
    action: Action | None
    key: str
    completed: Event | None = None
    failed: Event | None = None
    observed: int | None = None
    """The effect.observed that says that a declared read changed the state."""

    @property
    def named(self) -> tuple[str, int | None]:
        """The kind of its authority, and the event that it names: (verdict, 12); a person has no event."""
        kind, _, rest = self.authority.partition(":")
        number = int(rest) if rest.isascii() and rest.isdigit() and len(rest) <= 7 else None  # noqa: PLR2004 - MAX_SEQ's
        return kind, number

    @property
    def where(self) -> str:
        """The action in a few words."""
        return f"{self.tool or self.effect} at {self.position}" if self.position else str(self.tool or self.effect)

    @property
    def writes(self) -> bool:
        """Whether it changed something, or spoke to somebody, or was meant to."""
        return self.effect != Effect.READ or self.observed is not None

    @property
    def answer(self) -> ActCompleted | None:
        """What the environment answered."""
        body = self.completed.body if self.completed is not None else None
        return body if isinstance(body, ActCompleted) else None

    @property
    def taken_over(self) -> bool:
        """Whether its answer was given for another episode, that this one goes on from."""
        body = self.completed or self.failed
        return body is not None and getattr(body.body, "source", None) in FROM_THE_RECORD


@dataclass(slots=True)
class Under:
    """What a verdict was about: segments with how many steps each has, and how many of them it lets stand."""

    steps: dict[int, int] = field(default_factory=dict)
    kept: dict[int, int] = field(default_factory=dict)

    @property
    def drafted(self) -> int:
        """How many steps it had to judge."""
        return sum(self.steps.values())


class Account(Sequence[Event]):
    """The events of one episode, and what they say. Positions are `s3.2`, `s3.r1` of a repair, `s3.g1` of a guess."""

    def __init__(self, events: Iterable[Event], prompts: "Prompts | None" = None) -> None:
        """Read the events once. `prompts`: where the prompts behind an event are, if not among the events."""
        self.events = tuple(events)
        self._prompts = prompts
        self.by_seq = {event.seq: event for event in self.events}
        self.started = next((one.body for one in self.events[:1] if isinstance(one.body, EpisodeStarted)), None)
        self.acts: dict[int, Act] = {}
        self.drafts: dict[str, tuple[int, StepDrafted]] = {}
        self.guesses: dict[str, tuple[int, StepSpeculated]] = {}
        self.repaired: dict[str, tuple[int, RepairMade, int]] = {}
        """Position -> (repair.made, its body, the action's place in it from 0)."""
        self.held: dict[str, tuple[int, ActionHeld]] = {}
        self.closed: dict[int, tuple[int, SegmentClosed]] = {}
        self.verdicts: dict[int, list[tuple[int, VerdictGiven]]] = {}
        """Segment -> those given on it; one, where nothing is wrong."""
        self.under: dict[int, Under] = {}
        """verdict.given -> what it was about."""
        self.commits: list[tuple[int, SegmentCommitted]] = []
        self.sizes: dict[int, int] = {}
        """Segment -> steps drafted."""
        self.edits: dict[int, str | None] = {}
        """Model call -> the person in whose name its answer was edited."""
        self._open: list[int] = []
        for event in self.events:
            self._read(event)

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Event]: ...
    def __getitem__(self, index: int | slice) -> Event | Sequence[Event]:
        """Return an event by its place."""
        return self.events[index]

    def __iter__(self) -> Iterator[Event]:
        """Yield the events in order."""
        return iter(self.events)

    def __len__(self) -> int:
        """Return how many events there are."""
        return len(self.events)

    # -- what it began with --------------------------------------------------------------------------------------------

    @cached_property
    def own(self) -> bool:
        """Whether a protocol of ours recorded it: then its law holds."""
        return self.started is not None and self.started.origin is None and self.started.protocol in _RUNS

    @property
    def goes_on_from(self) -> str | None:
        """The episode whose record it took over; None where it began by itself."""
        parent = self.started.parent if self.started is not None else None
        return None if parent is None else parent.episode

    @cached_property
    def options(self) -> Mapping[str, object]:
        """The protocol's options as recorded; none where they cannot be read."""
        try:
            found = json.loads(self.started.options) if self.started is not None else None
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    @cached_property
    def specagent(self) -> SpecAgent | None:
        """The protocol with its recorded options, where it is SpecAgent's."""
        if not self.own or self.started is None or self.started.protocol != SpecAgent.NAME or not self.options:
            return None
        known = {item.name for item in fields(SpecAgent)}
        try:
            return SpecAgent(**{name: value for name, value in self.options.items() if name in known})  # type: ignore[arg-type]  # checked there
        except (SpectraceError, TypeError):
            return None

    @cached_property
    def setup(self) -> Setup | None:
        """What the protocol started from; None where that cannot be read."""
        try:
            return setup_of(self.started) if self.started is not None and self.own else None
        except (SpectraceError, ValueError, RecursionError):
            return None

    @cached_property
    def tools(self) -> Mapping[str, ToolSpec]:
        """The tools at the beginning, by name."""
        return {tool.name: tool for tool in self.started.tools} if self.started is not None else {}

    @cached_property
    def tools_moved(self) -> bool:
        """Whether the tools changed on the way: then those of the beginning say nothing of later actions."""
        return any(event.type == ToolsChanged.TYPE for event in self.events)

    # -- what can be told ----------------------------------------------------------------------------------------------

    @cached_property
    def erased(self) -> int:
        """How many events have lost their bodies."""
        return sum(isinstance(one.body, Unknown) and one.body.erased for one in self.events)

    @cached_property
    def whole(self) -> bool:
        """Whether nothing is missing: what is not there was not told. Prompts may be."""
        lost = {one.type for one in self.events if isinstance(one.body, Unknown) and one.type in CLASSES}
        return all(one.seq == n for n, one in enumerate(self.events)) and lost <= {GenerateRequested.TYPE}

    def goes_on(self, seq: int, lane: str) -> bool:
        """Whether the protocol told or asked something else after that event: it was not cut off there."""
        passing = EpisodeEnded | OutcomeSettled | StateMoved
        return any(
            one.seq > seq and not isinstance(one.body, passing) and (one.lane == lane or not one.lane)
            for one in self.events
        )

    def sent(self) -> Iterator[Act]:
        """Yield the agent's actions that changed something or spoke to somebody, in order."""
        return (act for act in self.acts.values() if act.writes)

    def sent_at(self, position: str) -> list[Act]:
        """Return the actions that were sent from a position."""
        return self._by_position.get(position, [])

    @cached_property
    def _by_position(self) -> Mapping[str, list[Act]]:
        found: dict[str, list[Act]] = {}
        for act in self.acts.values():
            if act.position is not None:
                found.setdefault(act.position, []).append(act)
        return found

    def with_prompts(self) -> Sequence[Event]:
        """Return the events with what the models were asked, read again where these are without."""
        return self.events if self._prompts is None else (*self.events[:1], *self._prompts(0))

    def prompts(self, after: int) -> Iterator[tuple[int, tuple[Message, ...]]]:
        """Yield the prompts of the agent's model calls behind an event."""
        events = self.events if self._prompts is None else self._prompts(after)
        for one in events:
            if one.seq > after and isinstance(one.body, GenerateRequested) and one.body.who in AGENT:
                yield one.seq, one.body.messages

    # -- reading -------------------------------------------------------------------------------------------------------

    def _read(self, event: Event) -> None:
        seq = event.seq
        match event.body:
            case ActRequested(requestor="agent") as body:
                self.acts[seq] = Act(
                    seq,
                    event.lane,
                    body.effect,
                    body.authority,
                    body.tool,
                    body.position,
                    body.action,
                    body.idempotency_key,
                )
            case Unknown(type=ActRequested.TYPE, effect=effect, authority=authority, tool=tool) if effect and authority:
                self.acts[seq] = Act(seq, event.lane, effect, authority, tool, None, None, "")
            case ActCompleted(request=request) if request in self.acts:
                self.acts[request].completed = self.acts[request].completed or event
            case ActFailed(request=request) if request in self.acts:
                self.acts[request].failed = self.acts[request].failed or event
            case EffectObserved(request=request) if request in self.acts:
                self.acts[request].observed = seq
            case StepDrafted() as body:
                self.drafts.setdefault(body.position, (seq, body))
                self.sizes[body.segment] = self.sizes.get(body.segment, 0) + 1
            case StepSpeculated() as body:
                self.guesses.setdefault(body.position, (seq, body))
            case RepairMade() as body:
                for place in range(len(body.actions)):
                    self.repaired.setdefault(f"s{body.segment}.r{place + 1}", (seq, body, place))
            case ActionHeld() as body:
                self.held.setdefault(body.position, (seq, body))
            case GenerateCompleted(source="edited") as body:
                self.edits[body.request] = body.model
            case _:
                self._settles(seq, event.body)

    def _settles(self, seq: int, body: object) -> None:
        """Follow what is open for review, and what a verdict makes of it."""
        match body:
            case SegmentClosed(segment=segment):
                self.closed.setdefault(segment, (seq, body))
                self._open.append(segment)
            case VerdictGiven() as body:
                self.verdicts.setdefault(body.segment, []).append((seq, body))
                self.under[seq] = self._judged(body)
            case SegmentCommitted(segment=segment):
                self.commits.append((seq, body))
                self._open = [one for one in self._open if one != segment]
            case StepsDiscarded(segment=segment, repair=False, reason=reason) if reason != "speculation_lost":
                self._open = [one for one in self._open if one != segment]
            case _:
                pass

    def _judged(self, body: VerdictGiven) -> Under:
        under, left = Under({one: self.sizes.get(one, 0) for one in self._open}), body.accepted
        for segment, steps in under.steps.items():
            under.kept[segment] = max(min(left, steps), 0)
            left -= steps
        return under


def account_of(events: Sequence[Event]) -> Account:
    """Return the account of an episode's events; of an account, that one."""
    return events if isinstance(events, Account) else Account(events)


def judgeable(account: Account) -> Iterator[tuple[int, bool]]:
    """Yield each action of the agent's that did something: whether the log says on what authority it ran."""
    return ((act.seq, act.authority != UNKNOWN or account.own) for act in account.sent())


def under_law(account: Account) -> Iterator[tuple[int, bool]]:
    """Yield each of them: whether it ran under a protocol whose law is known, with options that can be read."""
    return ((act.seq, account.own and act.position is not None) for act in account.sent())
