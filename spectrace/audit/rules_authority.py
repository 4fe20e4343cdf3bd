"""Rules on what was done and on whose word: every write after its verdict, and the very action that was approved.

What an act names as its authority is looked up: the event must be there, come before, and be about that very step.
Options count: `actor` is the authority of the protocols without review, `unreviewed` that of a final answer where
finish=free, a person's that of a fork whose verdict they edited. An import names no authority: it is not judged.
"""

from collections.abc import Iterator
from decimal import Decimal

from spectrace.audit.rules_account import UNKNOWN, Account, Act, Found
from spectrace.core.events import ActCompleted, GenerateCompleted, RepairMade, SpeculationMatched, StepDrafted
from spectrace.core.events import VerdictGiven as Verdict
from spectrace.core.facts import tool_of
from spectrace.core.sameness import same_action
from spectrace.core.types import Action, Effect

_NAMES = {"verdict": Verdict.TYPE, "repair": RepairMade.TYPE}
_PERSON = "person:"
_TOLD = frozenset({"verdict", "repair", "person", "actor", "read", "reply", "unreviewed", "speculative"})


def write_before_verdict(account: Account) -> Iterator[Found]:
    """Yield acts that came before what they name as their authority, or before any verdict on a held step.

    Only by the clock: a warning, for clocks are set.
    """
    for act in account.acts.values():
        kind, number = act.named
        if kind in _NAMES and number is not None and number > act.seq and _is(account, number, _NAMES[kind]):
            yield act.seq, f"{act.where} was sent before event {number}, the {kind} that it names"
        elif number is not None and (late := _clock_says(account, act, number)) is not None:
            yield act.seq, f"{act.where} was sent {late} before event {number}, that it names, by the clock", "warning"
        elif kind not in _NAMES and act.position in account.held and account.own and account.whole:
            _, held = account.held[act.position]
            if not any(seq < act.seq for seq, _ in account.verdicts.get(held.segment, ())):
                yield act.seq, f"{act.where} was held, and was sent before any verdict on segment {held.segment}"


def _clock_says(account: Account, act: Act, number: int) -> str | None:
    """Return how long an act was sent before the event that it names, as the log's times say; None if it was not."""
    named = account.by_seq.get(number)
    early_us = 0 if named is None else named.at - account.by_seq[act.seq].at
    return f"{Decimal(early_us) / 1_000_000:f} s" if early_us > 0 else None


def write_without_authority(account: Account) -> Iterator[Found]:
    """Yield writes, replies and final answers that ran on no authority that there is, or on one that is not theirs."""
    for act in account.acts.values():
        why = _lacking(account, act) if act.effect != Effect.READ else None
        if why is not None:
            yield act.seq, f"{act.where} {why}"


def _lacking(account: Account, act: Act) -> str | None:
    kind, number = act.named
    match kind:
        case "verdict" | "repair":
            if number is not None and _is(account, number, _NAMES[kind]):
                return None
            there = account.by_seq.get(number if number is not None else -1)
            if there is None and not account.whole:
                return None
            return f"names {act.authority}, and that is {'no event' if there is None else there.type}"
        case "person":
            if not account.own or not account.whole or act.authority in account.edits.values():
                return None
            return f"names {act.authority}, who edited no verdict here"
        case _ if not account.own and act.authority == UNKNOWN:
            return None
        case _ if kind not in _TOLD:
            return f"names {act.authority!r}, which is no authority"
        case "read":
            return "ran on the authority read"
        case "reply" if act.effect != Effect.REPLY:
            return "ran on the authority reply"
        case _:
            return _against_law(account, act, kind)


def _against_law(account: Account, act: Act, kind: str) -> str | None:
    agent = account.specagent
    if agent is None:
        under = account.started.protocol if account.own and account.started is not None else None
        if kind in {"reply", "unreviewed"} and under is not None and under != "specagent":
            return f"ran on the authority {kind}, which {under} does not have"
        return None
    if kind == "actor":
        return "ran on the authority actor, which a protocol with reviews does not have"
    if kind == "unreviewed" and act.effect != Effect.WRITE and (act.effect, agent.finish) != (Effect.FINISH, "free"):
        return f"ran unreviewed, though the options say finish={agent.finish}"
    return None


def _is(account: Account, seq: int, type_: str) -> bool:
    event = account.by_seq.get(seq)
    return event is not None and event.type == type_


def verdict_elsewhere(account: Account) -> Iterator[Found]:
    """Yield acts whose verdict or repair is of another segment or step."""
    for act in account.acts.values():
        kind, number = act.named
        body = account.by_seq[number].body if number in account.by_seq else None
        if act.position is None or not isinstance(body, Verdict | RepairMade) or not _is_kind(kind, body):
            continue
        prefix = f"s{body.segment}."
        if not act.position.startswith(prefix):
            yield act.seq, f"{act.where} names {act.authority}, which is about segment {body.segment}"
        elif isinstance(body, Verdict) != (".r" not in act.position):
            yield act.seq, f"{act.where} names {act.authority}: a {kind} is no authority for that step"


def _is_kind(kind: str, body: Verdict | RepairMade) -> bool:
    return isinstance(body, Verdict) == (kind == "verdict")


def write_after_rejection(account: Account) -> Iterator[Found]:
    """Yield acts of a step that the verdict on their own segment did not accept."""
    for act in account.acts.values():
        if act.position is None or ".r" in act.position or act.position not in account.drafts:
            continue
        _, step = account.drafts[act.position]
        for seq, verdict in account.verdicts.get(step.segment, ()):
            kept = account.under[seq].kept.get(step.segment, verdict.accepted)
            refused = verdict.outcome != "accept" and (kept < step.index or act.named == ("verdict", seq))
            if seq < act.seq and refused:
                yield act.seq, f"{act.where} was sent after event {seq} ({verdict.outcome}) did not accept it"
                break


def executed_differs(account: Account) -> Iterator[Found]:
    """Yield what is not what was drafted, held or named as the replacement: at the act, or where it turned."""
    for seq, held in account.held.values():
        drafted = account.drafts.get(held.position)
        if drafted is not None and drafted[1].action != held.action:
            yield seq, f"what is held at {held.position} is not what event {drafted[0]} drafted"
    for act in account.acts.values():
        yield from _differs(account, act)
    for seq, repair, place in account.repaired.values():
        given = account.by_seq[repair.verdict].body if repair.verdict in account.by_seq else None
        wanted = given.replacement if isinstance(given, Verdict) else None
        if repair.kind == "fused" and place == 0 and wanted is not None and wanted != repair.actions[0]:
            yield seq, f"the fused repair is not the replacement that event {repair.verdict} names"
    for event in account:
        if isinstance(event.body, SpeculationMatched):
            yield from _mismatched(account, event.seq, event.body)


def _differs(account: Account, act: Act) -> Iterator[Found]:
    if act.position is None or act.action is None:
        return
    for seq, action, effect in _origins(account, act.position):
        if action != act.action:
            yield act.seq, f"{act.where} is not the action of event {seq}"
            return
        if effect is not None and effect != act.effect:
            yield act.seq, f"{act.where} was sent as a {act.effect}, event {seq} has it as a {effect}"
            return
    if act.tool != tool_of(act.action):
        yield act.seq, f"the header names {act.tool}, the action is {tool_of(act.action)}"


def _origins(account: Account, position: str) -> Iterator[tuple[int, Action, str | None]]:
    if position in account.held:
        seq, held = account.held[position]
        yield seq, held.action, held.effect
    if position in account.drafts:
        seq, drafted = account.drafts[position]
        yield seq, drafted.action, drafted.effect
    if position in account.guesses:
        seq, guess = account.guesses[position]
        yield seq, guess.action, guess.effect
    if position in account.repaired:
        seq, repair, place = account.repaired[position]
        yield seq, repair.actions[place], None


def _mismatched(account: Account, seq: int, body: SpeculationMatched) -> Iterator[Found]:
    guess = account.by_seq[body.guess].body if body.guess in account.by_seq else None
    step = account.drafts.get(body.position)
    action = getattr(guess, "action", None)
    if step is not None and action is not None and not same_action(action, step[1].action):
        yield seq, f"the step at {body.position} is not what event {body.guess} guessed, and took its observation"


def undrafted_act(account: Account) -> Iterator[Found]:
    """Yield acts of steps that nobody had drafted, guessed or repaired by then."""
    if not account.whole:
        return
    for act in account.acts.values():
        position = act.position or ""
        known = [*account.drafts.get(position, ())[:1], *account.guesses.get(position, ())[:1]]
        known += account.repaired.get(position, ())[:1]
        if not any(isinstance(seq, int) and seq < act.seq for seq in known):
            yield act.seq, f"{act.where} was sent, and nobody had drafted that step"


def reply_unreviewed(account: Account) -> Iterator[Found]:
    """Yield replies that went out without a verdict though the options hold them."""
    agent = account.specagent
    if agent is None or not (agent.hold == "writes+replies" or agent.review == "every"):
        return
    for act in account.acts.values():
        if act.effect == Effect.REPLY and act.authority == "reply":
            yield act.seq, f"{act.where} went out unreviewed under hold={agent.hold}, review={agent.review}"


def edited_without_person(account: Account) -> Iterator[Found]:
    """Yield answers that were edited in nobody's name, and acts on an edited verdict that do not name the person."""
    for event in account:
        match event.body:
            case GenerateCompleted(source="edited", model=model) if not is_person(model):
                yield event.seq, f"a model's answer was edited by {model or 'nobody'}, which is no person"
            case ActCompleted(source="edited", authority=by) if not is_person(by):
                yield event.seq, f"an outcome was put in by {by or 'nobody'}, which is no person"
            case _:
                pass
    for act in account.acts.values():
        editor = account.edits.get(_review(account, act))
        if is_person(editor) and act.authority != editor:
            yield act.seq, f"{act.where} ran on {act.authority}, though {editor} edited that verdict"


def _review(account: Account, act: Act) -> int:
    """Return the model call whose verdict the act follows from; -1 for none."""
    kind, number = act.named
    body = account.by_seq[number].body if number in account.by_seq else None
    if kind == "repair" and isinstance(body, RepairMade) and body.kind == "fused" and body.verdict in account.by_seq:
        body = account.by_seq[body.verdict].body
    return body.review if isinstance(body, Verdict) and body.review is not None else -1


def is_person(text: str | None) -> bool:
    """Whether an authority is a person's."""
    return text is not None and text.startswith(_PERSON) and bool(text.removeprefix(_PERSON).strip())


def effect_understated(account: Account) -> Iterator[Found]:
    """Yield steps and acts that were taken for reads though their tool is declared to change something."""
    if not account.own or account.tools_moved:
        return
    for event in account:
        if isinstance(event.body, StepDrafted) and event.body.effect == Effect.READ:
            tool = tool_of(event.body.action)
        elif event.seq in account.acts and account.acts[event.seq].effect == Effect.READ:
            tool = account.acts[event.seq].tool
        else:
            continue
        spec = account.tools.get(tool or "")
        declared = Effect.WRITE if spec is None else spec.effect
        if declared is not Effect.READ:
            yield event.seq, f"{tool or 'what is no look-up'} was taken for a read, it is declared a {declared}"
