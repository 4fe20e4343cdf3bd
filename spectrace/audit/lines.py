"""Events as one line each: what a timeline says of them.

Recorded text passes through unchanged: whoever shows it makes it `visible`.
"""

import json
from dataclasses import fields, is_dataclass
from enum import Enum

from spectrace.audit.answers import EventLine
from spectrace.audit.records import record_text
from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    ActionChecked,
    ActionHeld,
    ActRequested,
    ControlPassed,
    EffectObserved,
    EpisodeEnded,
    EpisodeStarted,
    EvaluateCompleted,
    EvaluateFailed,
    EvaluateRequested,
    Event,
    GenerateCompleted,
    GenerateFailed,
    GenerateRequested,
    OutcomeSettled,
    PlanMade,
    ProgressJudged,
    RepairMade,
    ReplyUnusable,
    ResetCompleted,
    ResetFailed,
    ResetRequested,
    SegmentClosed,
    SegmentCommitted,
    SpeculationMatched,
    StateMoved,
    StepDrafted,
    StepsDiscarded,
    StepSpeculated,
    ToolsChanged,
    Unknown,
    VerdictGiven,
)
from spectrace.core.types import Action, Call, Finish, Reply


def line(event: Event, sent: int | None = None) -> EventLine:
    """Return the timeline's line for an event; `sent` counts the messages of its prompt, where it came without."""
    body = event.body
    return EventLine(
        seq=event.seq,
        at=event.at,
        lane=event.lane,
        type=event.type,
        effect=getattr(body, "effect", None),
        authority=getattr(body, "authority", None),
        outcome=getattr(body, "outcome", None),
        tool=getattr(body, "tool", None),
        summary=summary(event, sent),
    )


def action_text(action: Action) -> str:
    """Return an action as people write it: `cancel_order {"order_id": "W200"}`, `reply: ...`, `finish: ...`."""
    match action:
        case Call(tool, arguments):
            return f"{tool} {arguments}"
        case Reply(text):
            return f"reply: {text}"
        case Finish(text):
            return f"finish: {text}"


def counted(number: int, noun: str) -> str:
    """Return `1 step`, `2 steps`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def tool_name(action: Action) -> str:
    """Return the tool of a call; `reply` or `finish` for the others."""
    return action.tool if isinstance(action, Call) else type(action).__name__.lower()


def summary(event: Event, sent: int | None = None) -> str:
    """Say in a few words what an event says; `sent` as in `line`."""
    match event.body:
        case EpisodeStarted(protocol=protocol, environment=environment, task=task, models=models):
            asked = ", ".join(f"{facts.role} {facts.provider}:{facts.name}" for facts in models)
            return f"{protocol} on {environment.name}, task {task.id}{', ' if asked else ''}{asked}"
        case EpisodeEnded(outcome=outcome, reason=reason, reward=reward):
            return f"{outcome}: {reason}" + (f", reward {reward}" if reward is not None else "")
        case GenerateRequested(role=role, who=who, position=position, messages=prompt):
            number = len(prompt) if sent is None else sent
            return f"{role} {position}: {counted(number, 'message')} to the {who} model"
        case GenerateCompleted(role=role, message=message, source=source, model=model):
            calls = "; ".join(f"{call.name} {call.arguments}" for call in message.calls)
            return f"{role}: {_from(source, model)}{' '.join(part for part in (message.content, calls) if part)}"
        case GenerateFailed(role=role, kind=kind, error=error):
            return f"{role}: {kind}: {error}"
        case ActRequested(position=position, action=action):
            return f"{position}: {action_text(action)}"
        case ActCompleted(observation=observation, source=source, authority=authority):
            return f"{_from(source, authority)}{'ERROR ' if observation.error else ''}{observation.content}"
        case ActFailed(kind=kind, error=error) | ResetFailed(kind=kind, error=error):
            return f"{kind}: {error}"
        case EvaluateFailed(kind=kind, error=error):
            return f"{kind}: {error}"
        case ResetRequested(seed=seed):
            return "begin" if seed is None else f"begin with seed {seed}"
        case ResetCompleted(messages=messages):
            return messages[-1].content if messages else "no opening message"
        case EvaluateRequested():
            return "grade"
        case EvaluateCompleted(reward=reward, detail=detail):
            return f"reward {reward if reward is not None else 'none'} {detail}"
        case _:
            return _fact(event.body)


def _from(source: str, by: str | None) -> str:
    """Say whose answer it is where nobody gave it in this episode: its parent's, or a person's word."""
    told = {"record": "(taken over) ", "edited": f"(by the word of {(by or '?').removeprefix('person:')}) "}
    return told.get(source, "")


def _fact(body: object) -> str:
    match body:
        case StepDrafted(position=position, action=action, objection=objection):
            return f"{position}: {action_text(action)}" + (f" (not sent: {objection})" if objection else "")
        case ActionHeld(position=position, action=action):
            return f"{position}: {action_text(action)} waits for a verdict"
        case ActionChecked(action=action, objection=objection):
            return f"{action_text(action)}: {objection or 'no objection'}"
        case SegmentClosed(segment=segment, steps=steps, reason=reason, dropped=dropped):
            return f"segment {segment}: {counted(steps, 'step')}, {reason}" + (
                f", {counted(dropped, 'call')} dropped" if dropped else ""
            )
        case VerdictGiven():
            return _verdict(body)
        case SegmentCommitted(segment=segment, start=start, end=end, reviewed=reviewed):
            return f"segment {segment}: {_range(start, end)} committed, reviewed: {reviewed}"
        case StepsDiscarded(segment=segment, start=start, end=end, reason=reason):
            what = "guess" if reason == "speculation_lost" else "step"
            return f"segment {segment}: {_range(start, end, what)} discarded, {reason}"
        case ReplyUnusable(role=role, cause=cause, next=next_):
            return f"{role}: {cause}; {next_}"
        case RepairMade(kind=kind, actions=actions):
            return f"{kind}: {'; '.join(action_text(action) for action in actions)}"
        case ToolsChanged(tools=tools):
            return f"{len(tools)} tools now"
        case EffectObserved(tool=tool):
            return f"{tool} was declared a read and changed the state"
        case StateMoved(position=position):
            return f"{position}: the state moved between holding and executing"
        case OutcomeSettled(request=request, outcome=outcome, evidence=evidence):
            return f"event {request} settled as {outcome}: {evidence}"
        case Unknown(type=type_, version=version, body=text):
            return "erased" if text == "null" else f"{type_} version {version} is not known to this spectrace: {text}"
        case _:
            return _rival(body)


def _rival(body: object) -> str:
    """Say what only other protocols than SpecAgent decide."""
    match body:
        case StepSpeculated(position=position, action=action, launched=launched):
            return f"{position}: {action_text(action)} guessed, {'started' if launched else 'not started'}"
        case SpeculationMatched(position=position, guess=guess):
            return f"{position} is the guess of event {guess}: its observation is taken"
        case PlanMade(plan=plan):
            return f"plan: {plan}"
        case ProgressJudged(outcome=outcome, who=who, failures=failures, reason=reason):
            again = f", {failures} times in a row" if failures > 1 else ""
            return f"segment {body.segment}: the {who} model sees {outcome}{again}" + (f": {reason}" if reason else "")
        case ControlPassed(to=to, reason=reason, steps=steps):
            span = "" if steps is None else f" for {counted(steps, 'step')}"
            return f"the {to} model goes on{span}: {reason}"
        case _:
            return record_text(body)


def _range(start: int, end: int, what: str = "step") -> str:
    return f"{what} {start}" if start == end else f"{what}{'es' if what.endswith('s') else 's'} {start} to {end}"


def _verdict(body: VerdictGiven) -> str:
    scored = "" if body.probabilities is None else f", P(yes) {body.probabilities}"
    match body.outcome:
        case "accept":
            accepted = "the step accepted" if body.drafted == 1 else f"all {body.drafted} steps accepted"
            return f"{accepted}{scored}"
        case "unusable":
            return f"unusable: {body.cause}; nothing accepted"
        case _:
            return f"step {body.accepted + 1} of {body.drafted} rejected, {body.category}{scored}: {body.reason}"


def plain(value: object) -> object:
    """Return a recorded value as JSON-able data; actions say their kind."""
    match value:
        case Enum():
            return value.value
        case Call() | Reply() | Finish():
            return {"kind": type(value).__name__.lower(), **_fields(value)}
        case tuple() | list():
            return [plain(item) for item in value]
        case Unknown(body=text):
            return _json_or_text(text)
        case _ if is_dataclass(value) and not isinstance(value, type):
            return _fields(value)
        case _:
            return value


def _fields(value: object) -> dict[str, object]:
    return {item.name: plain(getattr(value, item.name)) for item in fields(value)}  # type: ignore[arg-type]


def _json_or_text(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text
