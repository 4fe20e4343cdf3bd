"""Rules on reviews: what has to be held and judged was, and what a verdict says is what came of it.

SpecAgent's law (PROTOCOL section 2) with the options as recorded: K, hold, review, finish, unreviewed, max_unreviewed,
fused. A segment's fate is compared with what `SpecAgentOptions` itself would say, so that the two cannot drift apart.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from spectrace.audit.rules_account import Account, Found
from spectrace.core.events import ActionChecked, RepairMade, SegmentClosed, SegmentCommitted
from spectrace.core.events import VerdictGiven as Verdict
from spectrace.core.reading import objection
from spectrace.core.types import Action, Effect, Segment, Step


def unreviewed_write(account: Account) -> Iterator[Found]:
    """Yield writes that ran unreviewed, and unreviewed commits of segments in which one ran."""
    for act in account.acts.values():
        if act.effect == Effect.WRITE and act.authority == "unreviewed":
            yield act.seq, f"{act.where} ran unreviewed"
    for seq, body in account.commits:
        if body.reviewed != "no" and not (account.specagent is not None and body.reviewed == "not_applicable"):
            continue
        for number in range(body.start, min(body.end, account.sizes.get(body.segment, 0)) + 1):
            for act in account.sent_at(f"s{body.segment}.{number}"):
                if act.effect == Effect.WRITE and act.authority != "unreviewed":
                    yield seq, f"segment {body.segment} was committed unreviewed, and {act.where} is in it"


def not_held(account: Account) -> Iterator[Found]:
    """Yield acts that the protocol holds back, and that were sent without having been held."""
    agent, setup = account.specagent, account.setup
    for act in account.acts.values():
        tool = account.tools.get(act.tool or "")
        if act.authority == "speculative" and account.own and tool is not None and tool.external:
            yield act.seq, f"{act.where} sends data to an outside party, and was started on a guess"
        if agent is None or setup is None or act.action is None or act.position not in account.drafts:
            continue
        if account.tools_moved or not account.whole or not agent.holds(setup, act.action):
            continue
        held = account.held.get(act.position)
        if held is None or held[0] > act.seq:
            yield act.seq, f"{act.where} was sent without having been held"


def verdict_contradicts(account: Account) -> Iterator[Found]:
    """Yield verdicts that say two things, judge other steps than were drafted, or judge a segment again."""
    for seq, body in ((seq, body) for given in account.verdicts.values() for seq, body in given):
        why = _contradiction(account, seq, body)
        if why is not None:
            yield seq, f"the verdict on segment {body.segment} {why}"


def _contradiction(account: Account, seq: int, body: Verdict) -> str | None:
    if not 0 <= body.accepted <= body.drafted:
        return f"accepts {body.accepted} of {body.drafted} steps"
    said = "unusable" if body.status == "unusable" else "accept" if body.accepted == body.drafted else "reject"
    if body.outcome != said or (said == "unusable" and body.accepted):
        return f"is {body.outcome} ({body.status}) and accepts {body.accepted} of {body.drafted} steps"
    if said == "accept" and body.replacement is not None:
        return "accepts every step and replaces one"
    if account.specagent is None or not account.whole:
        return None
    if account.verdicts[body.segment][0][0] != seq:
        return f"was given before, by event {account.verdicts[body.segment][0][0]}"
    judged = account.under[seq]
    if judged.drafted != body.drafted or body.segment not in judged.steps:
        return f"is on {body.drafted} steps, and {judged.drafted} were waiting for one"
    return None


def false_review(account: Account) -> Iterator[Found]:
    """Yield commits that call steps reviewed that no verdict accepted."""
    if not account.whole:
        return
    accepted = dict[int, list[tuple[int, int]]]()
    for given, under in account.under.items():
        for segment, count in under.kept.items():
            accepted.setdefault(segment, []).append((given, count))
    for seq, body in account.commits:
        if body.reviewed != "yes":
            continue
        kept = max((count for given, count in accepted.get(body.segment, ()) if given < seq), default=0)
        if body.end > kept:
            steps = f"steps {body.start} to {body.end} of segment {body.segment}"
            yield seq, f"{steps} were committed as reviewed, and a verdict accepted {kept}"


def review_skipped(account: Account) -> Iterator[Found]:
    """Yield unreviewed commits of segments that the options put to the reviewer."""
    agent = account.specagent
    if agent is None or not account.whole:
        return
    due, unreviewed = dict[int, str](), 0
    for event in account:
        match event.body:
            case SegmentClosed(segment=index, reason=reason):
                segment = Segment(index, _steps(account, index), reason)
                if agent.reviews(segment, unreviewed):
                    due[index] = reason
                else:
                    unreviewed += len(segment.steps)
            case Verdict():
                unreviewed = 0
            case SegmentCommitted(segment=index, reviewed="no") if index in due:
                yield event.seq, f"segment {index} ({due[index]}) had to be reviewed, and was committed unreviewed"
            case _:
                pass


def _steps(account: Account, index: int) -> tuple[Step, ...]:
    count = account.sizes.get(index, 0)
    found = (account.drafts.get(f"s{index}.{number}") for number in range(1, count + 1))
    return tuple(Step(one[1].position, one[1].action, Effect(one[1].effect)) for one in found if one is not None)


def repair_without_rejection(account: Account) -> Iterator[Found]:
    """Yield repairs of what no verdict rejected: the strong model may act only where a draft was refused."""
    if account.specagent is None or not account.whole:
        return
    for seq, repair in _repairs(account):
        unusable = account.closed.get(repair.segment, (0, None))[1]
        if unusable is not None and unusable.reason == "unusable_draft":
            continue
        given = account.by_seq[repair.verdict].body if repair.verdict in account.by_seq else None
        if not isinstance(given, Verdict) or (repair.verdict or 0) > seq or given.segment != repair.segment:
            yield seq, f"segment {repair.segment} was repaired, and no verdict on it was given"
        elif given.outcome == "accept":
            yield seq, f"segment {repair.segment} was repaired, though event {repair.verdict} accepted it"


def _repairs(account: Account) -> Iterator[tuple[int, RepairMade]]:
    return ((seq, repair) for seq, repair, place in account.repaired.values() if place == 0)


def invalid_replacement(account: Account) -> Iterator[Found]:
    """Yield fused repairs that the options, a tool's schema or the environment's own check did not allow."""
    checks = [(one.seq, one.body) for one in account if isinstance(one.body, ActionChecked)]
    places = [seq for seq, _ in checks]
    for seq, repair in _repairs(account):
        if repair.kind != "fused":
            continue
        start = repair.verdict if repair.verdict is not None else seq
        between = checks[bisect_right(places, start) : bisect_left(places, seq)]
        why = _not_allowed(account, repair, [body for _, body in between])
        if why is not None:
            yield seq, f"the replacement at s{repair.segment}.r1 was done, though {why}"


def _not_allowed(account: Account, repair: RepairMade, checks: Sequence[ActionChecked]) -> str | None:
    if account.specagent is not None and not account.specagent.fused:
        return "the options say fused=false"
    given = account.by_seq[repair.verdict].body if repair.verdict in account.by_seq else None
    if isinstance(given, Verdict) and given.replacement is None:
        return f"event {repair.verdict} names none"
    wrong = _schema(account, repair.actions[0])
    if wrong is not None:
        return wrong
    if not checks:
        return "the environment was not asked whether it is valid" if account.own and account.whole else None
    return f"the environment objected: {checks[-1].objection}" if checks[-1].objection is not None else None


def sent_though_invalid(account: Account) -> Iterator[Found]:
    """Yield acts of steps that were objected to, or that their tool's own schema refuses."""
    for act in account.acts.values():
        position = act.position or ""
        said = account.drafts[position][1].objection if position in account.drafts else None
        fused = False
        if position in account.repaired:
            _, repair, place = account.repaired[position]
            said, fused = repair.objections[place] if place < len(repair.objections) else None, repair.kind == "fused"
        said = said or (None if act.action is None or fused else _schema(account, act.action))
        if said is not None:
            yield act.seq, f"{act.where} was sent, though {said}"


def _schema(account: Account, action: Action) -> str | None:
    """Return what the tools of the beginning say against an action; nothing where other tools may have been there."""
    setup = account.setup
    return None if setup is None or account.tools_moved else objection(setup, action)
