"""Events -> deeds: every state-changing action and reply that was ever drafted, with its authority and fate.

The audit's ledger. A drafted action that never reached the environment has the outcome `never`; one that was asked and
not answered is `indeterminate`. Reads are left out unless asked for.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

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
    StepDrafted,
    Unknown,
    VerdictGiven,
)
from spectrace.core.types import Action, Call, Effect, Finish, Reply
from spectrace.core.versions import require_readable


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


def deeds(events: Iterable[Event]) -> list[Deed]:
    """Return an episode's deeds of every effect, in the order drafted or asked. Raises NewerSchema (see `versions`)."""
    found: dict[str, Deed] = {}
    context = _Context()
    for event in events:
        context.see(event)
        _apply(found, context, event)
    return list(found.values())


@dataclass(slots=True)
class _Context:
    started_by: str = "?"
    effect_by: dict[str, str] | None = None
    verdicts: dict[int, tuple[int, int | None]] | None = None
    """segment -> (verdict seq, review call)."""
    models: dict[int, str | None] | None = None
    """model call -> model as returned."""

    def see(self, event: Event) -> None:
        match event.body:
            case EpisodeStarted(started_by=by, tools=tools):
                self.started_by = f"{by.user}@{by.host}"
                self.effect_by = {tool.name: tool.effect_by for tool in tools}
            case VerdictGiven(segment=segment, review=review):
                self.verdicts = {**(self.verdicts or {}), segment: (event.seq, review)}
            case GenerateCompleted(request=request, model=model):
                self.models = {**(self.models or {}), request: model}
            case _:
                pass

    def verdict(self, position: str) -> tuple[int | None, str | None]:
        """Return the verdict on a position's segment and the model that gave it."""
        number = position.removeprefix("s").split(".")[0]
        given = (self.verdicts or {}).get(int(number)) if number.isdigit() else None
        if given is None:
            return None, None
        return given[0], (self.models or {}).get(given[1]) if given[1] is not None else None


def _apply(found: dict[str, Deed], context: _Context, event: Event) -> None:
    match event.body:
        case StepDrafted(position=position, action=action, effect=effect):
            found[position] = _new(context, event, position, action, effect)
        case ActionHeld(position=position):
            found[position] = replace(found[position], held_seq=event.seq)
        case RepairMade(segment=segment, actions=actions):
            for number, action in enumerate(actions, 1):
                position = f"s{segment}.r{number}"
                found[position] = _new(context, event, position, action, "")
        case VerdictGiven(segment=segment):
            seq, model = context.verdict(f"s{segment}.0")
            for position, deed in found.items():
                if position.startswith(f"s{segment}."):
                    found[position] = replace(deed, verdict_seq=seq, reviewer_model=model)
        case ActRequested(position=position):
            found[position] = _requested(found.get(position), context, event, event.body)
        case ActCompleted() | ActFailed():
            _answered(found, event, event.body)
        case EffectObserved(request=request, authority=authority):
            for position, deed in found.items():
                if deed.seq == request:
                    found[position] = replace(deed, authority=authority, state_changed=True)
        case OutcomeSettled(request=request, outcome=outcome):
            for position, deed in found.items():
                if deed.seq == request:
                    found[position] = replace(deed, outcome=outcome)
        case Unknown():
            require_readable(event)
        case _:
            pass


def _new(context: _Context, event: Event, position: str, action: Action, effect: str) -> Deed:
    name, kind, text = _parts(action)
    verdict, model = context.verdict(position) if ".r" in position else (None, None)
    return Deed(
        episode=event.episode,
        seq=event.seq,
        position=position,
        tool=name,
        arguments=text,
        kind=kind,
        effect_declared=effect,
        effect_by=(context.effect_by or {}).get(name) if name else None,
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
        started_by=context.started_by,
    )


def _parts(action: Action) -> tuple[str | None, str, str]:
    match action:
        case Call(tool, arguments):
            return tool, "call", arguments
        case Reply(text):
            return None, "reply", text
        case Finish(text):
            return None, "finish", text


def _requested(known: Deed | None, context: _Context, event: Event, body: ActRequested) -> Deed:
    deed = known or replace(_new(context, event, body.position, body.action, body.effect), drafted_at=None)
    return replace(
        deed,
        seq=event.seq,
        effect_declared=body.effect,
        authority=body.authority,
        requested_at=event.at,
        outcome="error" if body.effect == Effect.READ else "indeterminate",
    )


def _answered(found: dict[str, Deed], event: Event, body: ActCompleted | ActFailed) -> None:
    deed = found.get(body.position)
    if deed is None:
        return
    if isinstance(body, ActFailed):
        found[body.position] = replace(deed, outcome=body.outcome, completed_at=event.at)
        return
    before, after = body.fingerprint_before, body.fingerprint_after
    found[body.position] = replace(
        deed,
        outcome=body.outcome,
        completed_at=event.at,
        state_changed=None if before is None or after is None else before != after,
        result_digest=text_digest(body.observation.content),
    )


def changes_state(deed: Deed) -> bool:
    """Whether a deed belongs in the ledger: anything but a read that left the state as it was."""
    return deed.effect_declared != Effect.READ or deed.state_changed is True
