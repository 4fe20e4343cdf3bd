"""For each rule of the audit: a sound recording, and the one change by which it breaks that rule and no other.

A change looks for its place by itself and gives None where there is none, so that it can be tried on any recording.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    ActionChecked,
    ActionHeld,
    ActRequested,
    EpisodeEnded,
    Event,
    GenerateCompleted,
    GenerateRequested,
    OutcomeSettled,
    RepairMade,
    SegmentCommitted,
    StepDrafted,
    StepsDiscarded,
    VerdictGiven,
)
from spectrace.core.types import Call, Effect, Message, Observation
from tests.altered import Recording, answer_to, approved, behind, each, first, looks, on, put, renumbered
from tests.properties.scripts import Judged, Script

Change = Callable[[Sequence[Event]], Recording | None]
READ_THERE = "token 9f8e7d6c5b4a39281706aabbccdd"
ELSEWHERE = "sha256:" + "e" * 64


def write_before_verdict(events):
    for act in approved(events):
        given = events[int(act.body.authority.partition(":")[2])]
        answer = answer_to(events, act)
        rest = [e for e in events if e.seq not in {act.seq, answer.seq}]
        place = rest.index(given)
        return renumbered([*rest[:place], act, answer, *rest[place:]])
    return None


def write_without_authority(events):
    return next((on(events, act, "read") for act in approved(events)), None)


def verdict_elsewhere(events):
    accepts = each(events, VerdictGiven, outcome="accept")
    for act in reversed(approved(events, None)):
        other = next((e for e in accepts if not act.body.position.startswith(f"s{e.body.segment}.")), None)
        if other is not None and other.seq < act.seq:
            return on(events, act, f"verdict:{other.seq}")
    return None


def write_after_rejection(events):
    for given in each(events, VerdictGiven, outcome="reject"):
        held = next((e for e in each(events, ActionHeld, segment=given.body.segment)), None)
        if held is None or held.body.effect != Effect.WRITE:
            continue
        body, authority = held.body, f"verdict:{given.seq}"
        asked = _asked(body.position, body.action, body.effect, authority, body.tool)
        answered = _answered(asked, -1, "refused", "error")
        gone = first(events, StepsDiscarded, segment=body.segment)
        return behind(events, gone.seq, asked, answered)
    return None


def _asked(position, action, effect, authority, tool):
    return ActRequested(
        effect=effect,
        authority=authority,
        tool=tool,
        position=position,
        action=action,
        requestor="agent",
        idempotency_key=f"again:{position}",
    )


def _answered(asked, request, content, outcome="ok"):
    return ActCompleted(
        effect=asked.effect,
        authority=asked.authority,
        outcome=outcome,
        tool=asked.tool,
        request=request,
        position=asked.position,
        observation=Observation(content, error=outcome == "error"),
        fingerprint_before=None,
        fingerprint_after=None,
        latency_us=1,
        source="live",
    )


def executed_differs(events):
    acts = [e for e in each(events, ActRequested) if isinstance(e.body.action, Call)]
    return next((put(events, a.seq, action=replace(a.body.action, arguments='{"id": "another"}')) for a in acts), None)


def undrafted_act(events):
    for act in looks(events, "read"):
        asked = _asked("s1.99", act.body.action, "read", "read", act.body.tool)
        return behind(events, answer_to(events, act).seq, asked)
    return None


def effect_understated(events):
    for act in each(events, ActRequested, effect="write", authority="actor", tool="change"):
        drafted, answer = first(events, StepDrafted, position=act.body.position), answer_to(events, act)
        if drafted is not None and answer is not None:
            changed = put(put(events, drafted.seq, effect="read"), act.seq, effect="read")
            return put(changed, answer.seq, effect="read", fingerprint_after=answer.body.fingerprint_before)
    return None


def reply_unreviewed(events):
    held = json.loads(events[0].body.options)
    if held.get("hold") != "writes+replies" and held.get("review") != "every":
        return None
    return next((on(events, act, "reply") for act in approved(events, "reply")), None)


def edited_without_person(events):
    given = first(events, VerdictGiven)
    said = None if given is None else first(events, GenerateCompleted, request=given.body.review)
    return None if said is None else put(events, said.seq, source="edited", model="somebody")


def not_held(events):
    for act in approved(events):
        held = first(events, ActionHeld, position=act.body.position)
        return renumbered([e for e in events if e is not held])
    return None


def unreviewed_write(events):
    return next((on(events, act, "unreviewed") for act in approved(events)), None)


def verdict_contradicts(events):
    given = first(events, VerdictGiven, outcome="accept")
    return None if given is None else put(events, given.seq, accepted=given.body.drafted + 1)


def false_review(events):
    for done in each(events, SegmentCommitted, reviewed="yes"):
        gone = first(events, StepsDiscarded, segment=done.body.segment, reason="rejected")
        if gone is not None and first(events, ActionHeld, segment=done.body.segment) is not None:
            return put(events, done.seq, end=gone.body.end)
    return None


def review_skipped(events):
    for act in approved(events, "finish"):
        segment = int(act.body.position[1:].partition(".")[0])
        done = first(events, SegmentCommitted, segment=segment, reviewed="yes")
        return put(events, done.seq, reviewed="no")
    return None


def repair_without_rejection(events):
    for made in each(events, RepairMade, kind="corrective"):
        if made.body.verdict is not None and events[made.body.verdict].body.outcome == "reject":
            return put(events, made.seq, verdict=None)
    return None


def invalid_replacement(events):
    for made in each(events, RepairMade, kind="fused"):
        checked = [e for e in each(events, ActionChecked) if e.seq < made.seq][-1]
        return put(events, checked.seq, objection="it is of another customer")
    return None


def sent_though_invalid(events):
    sent = {act.body.position for act in looks(events, "read")}
    drafted = next((e for e in each(events, StepDrafted) if e.body.position in sent), None)
    return None if drafted is None else put(events, drafted.seq, objection="no such tool")


def speculative_write(events):
    return next((on(events, act, "speculative") for act in approved(events)), None)


def discarded_observation_used(events):
    for gone in each(events, StepsDiscarded, repair=False):
        kind = "g" if gone.body.reason == "speculation_lost" else ""
        places = {f"s{gone.body.segment}.{kind}{n}" for n in range(gone.body.start, gone.body.end + 1)}
        acts = [act for act in looks(events) if act.body.position in places]
        later = [e for e in each(events, GenerateRequested) if e.seq > gone.seq and e.body.who in {"weak", "strong"}]
        if acts and later:
            answer = answer_to(events, acts[0]).body
            shown = Message("user", f"[{answer.position}] {answer.observation.content}")
            return put(events, later[-1].seq, messages=(*later[-1].body.messages, shown))
    return None


def read_changed_state(events):
    for act in looks(events, "actor"):
        answer = answer_to(events, act)
        same = answer.body.fingerprint_before == answer.body.fingerprint_after is not None
        if same and any(e.seq > answer.seq for e in each(events, GenerateRequested)):
            return put(events, answer.seq, fingerprint_after=ELSEWHERE)
    return None


def state_moved(events):
    for act in approved(events):
        answer = answer_to(events, act)
        on_ = answer.body.fingerprint_before
        known = on_ is not None and answer.body.fingerprint_after is not None
        told = any(e.type == "state.moved" and e.body.position == act.body.position for e in events)
        if known and not told and any(e.seq > answer.seq for e in each(events, GenerateRequested)):
            return put(events, answer.seq, fingerprint_before=ELSEWHERE)
    return None


def repeated_write(events):
    acts = [e for e in each(events, ActRequested) if e.body.effect != Effect.READ]
    return put(events, acts[1].seq, idempotency_key=acts[0].body.idempotency_key) if len(acts) > 1 else None


def limits_exceeded(events):
    options, step = json.loads(events[0].body.options), first(events, StepDrafted)
    asked = [e for e in each(events, GenerateRequested) if e.body.who in {"weak", "strong"}]
    if step is None or "max_steps" not in options or not any(e.seq > step.seq for e in asked):
        return None
    return put(events, 0, options=json.dumps({**options, "max_steps": 1}))


def answer_misplaced(events):
    said = first(events, GenerateCompleted)
    return None if said is None else behind(events, said.seq, said.body)


def act_after_end(events):
    asked = first(events, GenerateRequested)
    end = first(events, EpisodeEnded)
    return None if asked is None or end is None else behind(events, end.seq, replace(asked.body, who="user"))


def settled_by_nobody(events):
    act = first(events, ActRequested)
    if act is None:
        return None
    word = OutcomeSettled(authority="unknown", outcome="ok", request=act.seq, evidence="seen")
    return behind(events, events[-1].seq, word)


def said_by_nobody(events):
    drafted = first(events, StepDrafted)
    given = None if drafted is None else first(events, VerdictGiven, outcome="accept")
    return None if given is None else put(events, given.seq, review=drafted.body.request)


def acted_on_unknown(events):
    for act in each(events, ActRequested, effect=Effect.WRITE):
        answer, asked = answer_to(events, act), each(events, GenerateRequested)
        if answer is not None and any(e.seq > answer.seq and e.body.who != "user" for e in asked):
            return [replace(e, body=_lost(e.body)) if e is answer else e for e in events]
    return None


def _lost(body):
    return ActFailed(
        effect=body.effect,
        authority=body.authority,
        outcome="indeterminate",
        tool=body.tool,
        request=body.request,
        position=body.position,
        kind="timeout",
        error="no answer",
        latency_us=None,
        source="live",
    )


def sent_after_error(events):
    for made in each(events, RepairMade, kind="corrective"):
        acts = [first(events, ActRequested, position=f"s{made.body.segment}.r{n}") for n in (1, 2)]
        answer = None if None in acts else answer_to(events, acts[0])
        if answer is not None:
            return put(events, answer.seq, outcome="error", observation=Observation("no", error=True))
    return None


def unfit_task(events):
    return put(events, 0, task_digest=ELSEWHERE)


def tools_changed(events):
    return put(events, 0, tools_digest=ELSEWHERE)


def not_by_the_protocol(events):
    asked = first(events, GenerateRequested, role="reviewer")
    return None if asked is None else put(events, asked.seq, messages=asked.body.messages[:-1])


def answered_by_another(events):
    other = {"weak": "strong", "strong": "weak"}
    for asked in each(events, GenerateRequested):
        said = first(events, GenerateCompleted, request=asked.seq, source="live")
        if asked.body.who in other and said is not None:
            return put(events, said.seq, model=other[asked.body.who])
    return None


def outcome_misstated(events):
    answer = first(events, ActCompleted, outcome="ok")
    return None if answer is None else put(events, answer.seq, outcome="error")


def totals_misstated(events):
    end = first(events, EpisodeEnded)
    if end is None or end.body.outcome == "interrupted" or end.body.reason.startswith("error_"):
        return None
    return put(events, end.seq, totals=replace(end.body.totals, steps=99_999))


def external_read_after_data(events):
    for search in each(events, ActRequested, tool="search"):
        before = [a for a in looks(events) if answer_to(events, a).seq < search.seq]
        if not before or search.body.authority.startswith(("verdict:", "person:")):
            continue
        action = Call("search", json.dumps({"id": f"who has {READ_THERE}?"}))
        changed = put(events, answer_to(events, before[0]).seq, observation=Observation(f"{READ_THERE} is the word"))
        for event in events:
            if getattr(event.body, "position", None) == search.body.position and hasattr(event.body, "action"):
                changed = put(changed, event.seq, action=action)
        return changed
    return None


ACCEPT = Judged("accept")
_USUAL = Script(weak=("read", "write", "read", "write"), verdicts=(ACCEPT, ACCEPT))
_REJECTED = Script(weak=("read", "write", "read", "write"), strong=("read",), verdicts=(Judged("reject", "last"),))
_FUSED = replace(_REJECTED, verdicts=(Judged("reject", "last", "read"),))
_ALL_GONE = replace(_REJECTED, weak=("read", "write", "write"), verdicts=(Judged("reject", "first"),))
_SEVERAL = Script(("write", "read"), ("reads",), (Judged("reject", "last"),), native=(True, True))
_ALONE = Script(weak=("read", "write", "read"))


@dataclass(frozen=True)
class Broken:
    """How one rule is broken: a change of an episode that a script plays under a protocol."""

    change: Change
    script: Script = _USUAL
    protocol: str = "specagent"
    options: tuple[tuple[str, object], ...] = ()


BROKEN: dict[str, Broken] = {
    "write_before_verdict": Broken(write_before_verdict),
    "write_without_authority": Broken(write_without_authority),
    "verdict_elsewhere": Broken(verdict_elsewhere),
    "write_after_rejection": Broken(write_after_rejection, _REJECTED),
    "executed_differs": Broken(executed_differs),
    "undrafted_act": Broken(undrafted_act),
    "effect_understated": Broken(effect_understated, _ALONE, "weak-only"),
    "reply_unreviewed": Broken(
        reply_unreviewed, Script(weak=("read", "reply"), verdicts=(ACCEPT,)), options=(("hold", "writes+replies"),)
    ),
    "edited_without_person": Broken(edited_without_person),
    "not_held": Broken(not_held),
    "unreviewed_write": Broken(unreviewed_write),
    "verdict_contradicts": Broken(verdict_contradicts),
    "false_review": Broken(false_review, _REJECTED),
    "review_skipped": Broken(review_skipped),
    "repair_without_rejection": Broken(repair_without_rejection, _REJECTED),
    "invalid_replacement": Broken(invalid_replacement, _FUSED),
    "sent_though_invalid": Broken(sent_though_invalid),
    "speculative_write": Broken(speculative_write),
    "discarded_observation_used": Broken(discarded_observation_used, _ALL_GONE),
    "read_changed_state": Broken(read_changed_state, _ALONE, "weak-only"),
    "state_moved": Broken(state_moved),
    "repeated_write": Broken(repeated_write),
    "limits_exceeded": Broken(limits_exceeded),
    "answer_misplaced": Broken(answer_misplaced),
    "act_after_end": Broken(act_after_end),
    "settled_by_nobody": Broken(settled_by_nobody),
    "said_by_nobody": Broken(said_by_nobody),
    "acted_on_unknown": Broken(acted_on_unknown, replace(_USUAL, fingerprints=False)),
    "sent_after_error": Broken(sent_after_error, _SEVERAL),
    "unfit_task": Broken(unfit_task),
    "tools_changed": Broken(tools_changed),
    "not_by_the_protocol": Broken(not_by_the_protocol),
    "answered_by_another": Broken(answered_by_another),
    "outcome_misstated": Broken(outcome_misstated),
    "totals_misstated": Broken(totals_misstated),
    "external_read_after_data": Broken(external_read_after_data, Script(weak=("read", "external"))),
}
"""Rule -> how it is broken."""
