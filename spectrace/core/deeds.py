"""Events -> deeds: every state-changing action and reply that was ever drafted, with its authority and fate.

The audit's ledger. A drafted action that never reached the environment has the outcome `never`; one that was asked and
not answered is `indeterminate`. Reads are left out unless asked for. A guess is a deed once it was started: nobody
proposed it. Where the strong model then takes the same step, that step is the deed, done on `speculative` authority.

Of an erased event the header is left: tool, effect, authority, outcome and time. What it was about is told by what
fits: an answer goes to the action of that tool and effect that waits for one, a request to the draft of its kind. The
position of an erased draft is not known; it is named by its event, `e41`, until a later event says it.

A resumed episode takes over what its parent drafted and did. Those deeds are the parent's, and the evidence lies there:
here they are marked `taken_over`, and a ledger over many episodes leaves them out (`own_deeds`).

A harness that only pretends to act (a dry run, a mock in place of the environment) says so with the label
`mode=simulated`: the only word that an episode has for it, since each of its events looks like any other. What a tool
makes of an argument such as `dry_run` is its own affair: a claim, and shown as one.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from spectrace.core.digest import text_digest
from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    ActionHeld,
    ActRequested,
    EffectObserved,
    EpisodeStarted,
    Event,
    GenerateCompleted,
    OutcomeSettled,
    RepairMade,
    SpeculationMatched,
    StepDrafted,
    StepSpeculated,
    ToolsChanged,
    Unknown,
    VerdictGiven,
)
from spectrace.core.types import Action, Call, Effect, Finish, Reply
from spectrace.core.versions import IMPOSSIBLE, impossible, require_readable

SIMULATED = ("mode", "simulated")
"""The label of an episode whose harness only pretended to act."""
RESUME = "resume"
"""The kind of parent that an episode goes on from."""
FORK = "fork"
"""The kind of parent whose record an episode takes over up to an event, executing it again."""
FROM_THE_RECORD = frozenset({"record", "edited"})
"""Sources of an answer that was not given for this episode: recorded in another, or a person's word on it."""


UNTOLD = frozenset({RepairMade.TYPE, StepSpeculated.TYPE, SpeculationMatched.TYPE})
"""Types of events whose headers do not tell the deeds that they made: where one is erased, some may be left out."""


@dataclass(frozen=True, slots=True)
class Deed:
    """One action: as drafted or repaired, as held, as judged, as executed. Times are UTC microseconds."""

    episode: str
    seq: int
    """act.requested where it ran, else the event that drafted it."""
    position: str
    tool: str | None
    arguments: str
    """Exact JSON text of a call's arguments; the text of a reply or a final answer."""
    kind: str
    """call, reply, finish."""
    effect_declared: str
    effect_by: str | None
    drafted_at: int | None
    held_seq: int | None
    verdict_seq: int | None
    authority: str | None
    reviewer_model: str | None
    requested_at: int | None
    completed_at: int | None
    outcome: str
    """ok, error, indeterminate, never."""
    state_changed: bool | None
    """None where the environment has no fingerprint, or nothing ran."""
    result_digest: str | None
    started_by: str
    erased: bool = False
    """Whether the body of one of its events is erased: what is not in a header may be missing."""
    taken_over: bool = False
    """Whether a resumed episode has it from its parent's record: drafted there and, if it ran, done there."""
    simulated: bool = False
    """Whether its episode says that nothing of it reached the real world."""


def deeds(events: Iterable[Event]) -> list[Deed]:
    """Return an episode's deeds of every effect, in the order drafted or asked.

    Raises NewerSchema, and StoreError for an event that cannot have followed those before it (see `versions`).
    """
    ledger = _Ledger()
    for event in events:
        try:
            _apply(ledger, event)
        except IMPOSSIBLE as error:
            if not ledger.erased:  # else it may speak of what is erased
                raise impossible(event, error) from error
    return list(ledger.deeds.values())


def own_deeds(events: Iterable[Event]) -> list[Deed]:
    """Return an episode's deeds without those that it took over: over a chain of resumed episodes, each deed once."""
    return [deed for deed in deeds(events) if not deed.taken_over]


@dataclass(slots=True)
class _Ledger:
    """The deeds so far, by position, and what later events are compared with."""

    deeds: dict[str, Deed] = field(default_factory=dict)
    started_by: str = "?"
    simulated: bool = False
    resumed: bool = False
    effect_by: dict[str, str] = field(default_factory=dict)
    segments: dict[str, list[str]] = field(default_factory=dict)
    """Segment's prefix (`s3`) -> positions of its deeds."""
    requests: dict[int, str] = field(default_factory=dict)
    """act.requested -> position."""
    verdicts: dict[str, tuple[int, int | None]] = field(default_factory=dict)
    """Segment's prefix -> (verdict seq, review call)."""
    models: dict[int, str | None] = field(default_factory=dict)
    """Model call -> model as returned."""
    guesses: dict[int, str] = field(default_factory=dict)
    """step.speculated -> position of a guess that was started."""
    taken: dict[str, str] = field(default_factory=dict)
    """Position of a guess -> that of the step whose own it turned out to be."""
    erased: bool = False
    """Whether an event is erased."""
    told: dict[int, bool] = field(default_factory=dict)
    """Model call -> whether its answer is from the record that a resumed episode goes on from; the last one last."""

    def begin(self, started: EpisodeStarted) -> None:
        """Note what is said of all deeds at the start."""
        self.started_by = f"{started.started_by.user}@{started.started_by.host}"
        self.simulated = SIMULATED in started.labels
        self.resumed = started.parent is not None and started.parent.kind == RESUME
        self.effect_by = {tool.name: tool.effect_by for tool in started.tools}

    def put(self, deed: Deed) -> None:
        """Add a deed, or what became of it."""
        if deed.position not in self.deeds:
            self.segments.setdefault(_segment_of(deed.position), []).append(deed.position)
        self.deeds[deed.position] = deed

    def move(self, deed: Deed, position: str) -> None:
        """Let a deed stand at another position: where a later event says that it stood."""
        del self.deeds[deed.position]
        self.segments[_segment_of(deed.position)].remove(deed.position)
        self.put(replace(deed, position=position))

    def find(self, tool: str | None, effect: str | None, *, asked: bool, placed: bool = True) -> Deed | None:
        """Return the latest deed of a tool and effect that was not sent, or was asked and waits for its answer.

        Those whose draft is erased come first; without `placed` there are no others.
        """
        fitting = [
            deed
            for deed in reversed(self.deeds.values())
            if deed.tool == tool
            and deed.effect_declared in {effect, ""}  # of a repair it is said when it is sent
            and (deed.requested_at is not None) is asked
            and deed.completed_at is None
        ]
        unplaced = [deed for deed in fitting if _is_unplaced(deed)]
        return next(iter([*unplaced, *(fitting if placed else [])]), None)

    def verdict(self, position: str) -> tuple[int | None, str | None]:
        """Return the verdict on a position's segment and the model that gave it."""
        seq, review = self.verdicts.get(_segment_of(position), (None, None))
        return seq, None if review is None else self.models.get(review)

    def asked(self, request: int) -> Deed | None:
        """Return the deed that an act.requested asked for."""
        position = self.requests.get(request)
        deed = None if position is None else self.deeds[self.taken.get(position, position)]
        return deed if deed is not None and deed.seq == request else None

    def take(self, guess: int, position: str) -> None:
        """Let the step at a position be the one that was guessed: what was done for the guess was done for it."""
        guessed = self.guesses.pop(guess, None)
        if guessed is None:
            return
        done = self.deeds.pop(guessed)
        self.segments[_segment_of(guessed)].remove(guessed)
        self.taken[guessed] = position
        own = self.deeds.get(position, done)
        self.put(replace(done, position=position, drafted_at=own.drafted_at, verdict_seq=own.verdict_seq))


def _is_unplaced(deed: Deed) -> bool:
    return deed.position.startswith("e")


def _segment_of(position: str) -> str:
    return position.partition(".")[0]


def _apply(ledger: _Ledger, event: Event) -> None:
    match event.body:
        case EpisodeStarted() as started:
            ledger.begin(started)
        case ToolsChanged(tools=tools):
            ledger.effect_by = {tool.name: tool.effect_by for tool in tools}
        case GenerateCompleted(request=request, model=model, source=source):
            ledger.models[request] = model
            ledger.told[request] = ledger.resumed and source in FROM_THE_RECORD
        case StepDrafted(position=position, action=action, effect=effect, request=request):
            drafted = _new(ledger, event, position, action, effect)
            ledger.put(replace(drafted, taken_over=ledger.told.get(request, False)))
        case StepSpeculated(position=position, action=action, effect=effect, request=request, launched=True):
            ledger.guesses[event.seq] = position
            guessed = _new(ledger, event, position, action, effect)
            ledger.put(replace(guessed, taken_over=ledger.told.get(request, False)))
        case SpeculationMatched(position=position, guess=guess):
            ledger.take(guess, position)
        case ActionHeld(position=position, tool=tool, effect=effect, action=action):
            _place(ledger, position, tool, effect, action)
            ledger.put(replace(ledger.deeds[position], held_seq=event.seq))
        case RepairMade(segment=segment, actions=actions):
            told = next(reversed(ledger.told.values()), False)  # a repair follows the answer that it was read from
            for number, action in enumerate(actions, 1):
                made = _new(ledger, event, f"s{segment}.r{number}", action, "")
                ledger.put(replace(made, taken_over=told))
        case VerdictGiven(segment=segment, review=review):
            prefix = f"s{segment}"
            ledger.verdicts[prefix] = (event.seq, review)
            seq, model = ledger.verdict(prefix)
            for position in ledger.segments.get(prefix, ()):
                ledger.put(replace(ledger.deeds[position], verdict_seq=seq, reviewer_model=model))
        case ActRequested(position=position, tool=tool, effect=effect, action=action):
            _place(ledger, position, tool, effect, action)
            ledger.requests[event.seq] = position
            ledger.put(_requested(ledger, event, event.body))
        case ActCompleted() | ActFailed():
            _answered(ledger, event, event.body)
        case EffectObserved(request=request, authority=authority):
            if (deed := ledger.asked(request)) is not None:
                ledger.put(replace(deed, authority=authority, state_changed=True))
        case OutcomeSettled(request=request, outcome=outcome):
            if (deed := ledger.asked(request)) is not None:
                ledger.put(replace(deed, outcome=outcome))
        case Unknown(erased=True):
            ledger.erased = True
            _erased(ledger, event, event.body)
        case Unknown():
            require_readable(event)
        case _:
            pass


def _place(ledger: _Ledger, position: str, tool: str | None, effect: str | None, action: Action) -> None:
    """Let the deed whose draft is erased stand where an event that is left says that it stood."""
    if not ledger.erased or position in ledger.deeds:
        return
    deed = ledger.find(tool, effect, asked=False, placed=False)
    if deed is not None:
        _, kind, text = _parts(action)
        ledger.move(replace(deed, kind=kind, arguments=text), position)


def _erased(ledger: _Ledger, event: Event, body: Unknown) -> None:
    """Take from the header of an erased event what it says of a deed."""
    tool, effect = body.tool, body.effect
    match body.type:
        case StepDrafted.TYPE:
            ledger.put(replace(_gone(ledger, event, body), drafted_at=event.at))
        case ActionHeld.TYPE:
            if (deed := ledger.find(tool, effect, asked=False)) is not None:
                ledger.put(replace(deed, held_seq=event.seq, erased=True))
        case ActRequested.TYPE:
            deed = ledger.find(tool, effect, asked=False) or _gone(ledger, event, body)
            by, _, seq = (body.authority or "").partition(":")
            ledger.requests[event.seq] = deed.position
            ledger.put(
                replace(
                    deed,
                    seq=event.seq,
                    effect_declared=effect or deed.effect_declared,
                    authority=body.authority,
                    requested_at=event.at,
                    verdict_seq=int(seq) if by == "verdict" and seq.isdecimal() else deed.verdict_seq,
                    outcome="error" if effect == Effect.READ else "indeterminate",
                    erased=True,
                )
            )
        case ActCompleted.TYPE | ActFailed.TYPE:
            if (deed := ledger.find(tool, effect, asked=True)) is not None:
                ledger.put(replace(deed, outcome=body.outcome or "?", completed_at=event.at, erased=True))
        case EffectObserved.TYPE:
            done = [one for one in ledger.deeds.values() if one.tool == tool and one.completed_at is not None]
            if done:
                ledger.put(replace(done[-1], authority=body.authority, state_changed=True, erased=True))
        case OutcomeSettled.TYPE:
            left = [one for one in ledger.deeds.values() if one.outcome == "indeterminate"]
            if len(left) == 1:  # of several it is not known which one
                ledger.put(replace(left[0], outcome=body.outcome or "?", erased=True))
        case _:
            pass


def _gone(ledger: _Ledger, event: Event, body: Unknown) -> Deed:
    """Return the deed of an erased event, as far as its header tells it."""
    effect = body.effect or Effect.WRITE
    action: Action = Call(body.tool, "") if body.tool is not None else Finish("") if effect == "finish" else Reply("")
    return replace(_new(ledger, event, f"e{event.seq}", action, effect), drafted_at=None, erased=True)


def _new(ledger: _Ledger, event: Event, position: str, action: Action, effect: str) -> Deed:
    name, kind, text = _parts(action)
    verdict, model = ledger.verdict(position) if ".r" in position else (None, None)
    return Deed(
        episode=event.episode,
        seq=event.seq,
        position=position,
        tool=name,
        arguments=text,
        kind=kind,
        effect_declared=effect,
        effect_by=ledger.effect_by.get(name) if name else None,
        drafted_at=event.at,
        held_seq=None,
        verdict_seq=verdict,
        authority=None,
        reviewer_model=model,
        requested_at=None,
        completed_at=None,
        outcome="never",
        state_changed=None,
        result_digest=None,
        started_by=ledger.started_by,
        simulated=ledger.simulated,
    )


def _parts(action: Action) -> tuple[str | None, str, str]:
    match action:
        case Call(tool, arguments):
            return tool, "call", arguments
        case Reply(text):
            return None, "reply", text
        case Finish(text):
            return None, "finish", text


def _requested(ledger: _Ledger, event: Event, body: ActRequested) -> Deed:
    deed = ledger.deeds.get(body.position)
    if deed is None:
        deed = replace(_new(ledger, event, body.position, body.action, body.effect), drafted_at=None)
    return replace(
        deed,
        seq=event.seq,
        effect_declared=body.effect,
        authority=body.authority,
        requested_at=event.at,
        taken_over=False,
        outcome="error" if body.effect == Effect.READ else "indeterminate",
    )


def _answered(ledger: _Ledger, event: Event, body: ActCompleted | ActFailed) -> None:
    if ledger.erased and (asked := ledger.asked(body.request)) is not None and _is_unplaced(asked):
        ledger.requests[body.request] = body.position
        if (drafted := ledger.deeds.get(body.position)) is None:
            ledger.move(asked, body.position)
        else:  # the request is erased, and its draft was told apart by what fits less well
            del ledger.deeds[asked.position]
            ledger.put(replace(asked, position=drafted.position, arguments=drafted.arguments, kind=drafted.kind))
    deed = ledger.deeds.get(ledger.taken.get(body.position, body.position))
    if deed is None:
        return
    deed = replace(deed, taken_over=ledger.resumed and body.source in FROM_THE_RECORD)
    if isinstance(body, ActFailed):
        ledger.put(replace(deed, outcome=body.outcome, completed_at=event.at))
        return
    before, after = body.fingerprint_before, body.fingerprint_after
    ledger.put(
        replace(
            deed,
            outcome=body.outcome,
            completed_at=event.at,
            state_changed=None if before is None or after is None else before != after,
            result_digest=text_digest(body.observation.content),
        )
    )


def changes_state(deed: Deed) -> bool:
    """Whether a deed belongs in the ledger: anything but a read that left the state as it was."""
    return deed.effect_declared != Effect.READ or deed.state_changed is True
