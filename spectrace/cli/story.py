"""The story of a rejection, for people: request, draft, verdict, what was discarded, what was done instead.

Numbers in brackets are event numbers: `show EP:SEQ` has each in full.
"""

from collections.abc import Sequence

from spectrace.audit import notes
from spectrace.audit.answers import WhyItem, WhyStep
from spectrace.audit.lines import action_text, counted
from spectrace.audit.visible import shortened
from spectrace.cli.console import Span, block, line, rule, status_span
from spectrace.core.fold import Episode, FoldedStep, Note
from spectrace.core.types import Effect, Finish, Reply

_LONG = 1200
"""Characters of one recorded text in a story; a cut is marked."""


def tell(episode: Episode, items: Sequence[WhyItem]) -> None:
    """Tell the story of each item."""
    odd = notes.inside(episode)
    _opening(episode)
    if not items:
        reviews = episode.totals.reviews
        said = (
            f"{counted(reviews, 'review')}, all accepting what was drafted."
            if reviews
            else "Nothing was reviewed in this episode."
        )
        line((f"Nothing was rejected. {said}", "good"))
        _rival(episode)
        return
    for one in items:
        _item(one)
        for note in odd.get(one.segment, ()):
            _note(note)
    _ending(episode)


def _opening(episode: Episode) -> None:
    started = episode.started
    line((episode.id, "name"), f"  {started.environment.name}, task {started.task.id}, {started.protocol}")
    line(("The request", "strong"))
    block(shortened(_request(episode), _LONG), indent=2)
    if started.parent is not None and started.parent.kind == "fork":
        line("It left the record of ", (f"{started.parent.episode}:{started.parent.seq}", "name"), " after that event.")
    if started.parent is not None and started.parent.kind == "resume":
        line("It goes on from ", (f"{started.parent.episode}:{started.parent.seq}", "name"), ", interrupted there.")
    if started.parent is not None and started.parent.kind == "reverify":
        parent = started.parent.episode
        line(
            "A second verdict on what was drafted in ",
            (parent, "name"),
            f": `spectrace why {parent}` tells the drafts.",
        )


def _rival(episode: Episode) -> None:
    """Tell what another protocol decides instead of verdicts: whose guesses were taken, who drove."""
    guesses = [guess for segment in episode.segments for guess in segment.guesses]
    if guesses:
        taken = sum(guess.fate == "committed" for guess in guesses)
        vain = sum(guess.fate != "committed" and guess.act is not None for guess in guesses)
        line(f"{counted(len(guesses), 'step')} guessed ahead: {taken} taken, {vain} had run in vain.")
        for guess in guesses:
            _guess(guess)
    for note in episode.notes:
        _note(note)


def _guess(guess: FoldedStep) -> None:
    taken = guess.fate == "committed"
    ran = "" if guess.act is None else "  had run in vain" if guess.fate == "discarded" else "  ran"
    line(
        ("✓ ", "good") if taken else ("· ", "dim"),
        (shortened(action_text(guess.step.action), _LONG), "" if taken else "dim"),
        ("  taken" if taken else ran, "dim"),
        (f"  [{guess.seq}]", "dim"),
        indent=2,
        hang=4,
    )


def _note(note: Note) -> None:
    line((notes.headline(note), "strong"), (f"  [{note.seq}]", "dim"))
    text = notes.words(note)
    if text:
        block(shortened(text, _LONG), indent=2)


def _request(episode: Episode) -> str:
    said = [message.content for message in episode.history.opening if message.role == "user"]
    return said[-1] if said else episode.started.task.request


def _item(one: WhyItem) -> None:
    line()
    verdict = {"reject": "rejected", "unusable": "review unusable", "accept": "accepted"}[one.decision]
    rule(f"segment {one.segment}: {verdict}")
    if one.steps:
        before = f"After {counted(one.earlier, 'step')} that stood in the history" if one.earlier else "To begin with"
        line((f"{before}, the weak model ({one.weak}) drafted:", "dim"))
        for step in one.steps:
            _drafted(one, step)
        line()
    _verdict(one)
    if one.steps:
        _discarded(one)
        _repair(one)


def _drafted(one: WhyItem, step: WhyStep) -> None:
    wrong = one.decision == "reject" and step.number == one.accepted + 1
    mark: Span = ("✗ ", "bad") if wrong else ("✓ ", "good") if step.number <= one.accepted else ("· ", "dim")
    said: list[Span] = []
    if step.probability is not None:
        said.append((f"  P(yes) {step.probability}", "strong"))
    if step.held:
        said.append(("  HELD: not executed, waits for the verdict", "held"))
    elif step.objection is not None:
        said.append(("  never sent", "warning"))
    style = "bad" if wrong else ""
    line(
        mark,
        (f"{step.number}. ", "strong"),
        (shortened(action_text(step.action), _LONG), style),
        (f"  {step.effect}", "dim"),
        *said,
        (f"  [{step.seq}]", "dim"),
        hang=5,
    )
    if step.reasoning:
        line(("thought: ", "dim"), (shortened(step.reasoning, _LONG), "dim"), indent=5)
    shown = step.observation if not (step.held and step.fate == "discarded") else None
    if shown is not None:
        after = "executed after the verdict: " if step.held else ""
        line(
            ("→ ", "dim"),
            (after, "dim"),
            (shortened(shown.content, _LONG) or "(empty)", "bad" if shown.error else ""),
            indent=5,
            hang=2,
        )


def _verdict(one: WhyItem) -> None:
    who = f"the strong model ({one.strong})" if one.edited_by is None else f"{one.edited_by}, who edited it"
    if one.decision == "accept":
        line(
            (f"Verdict of {who}: ", "strong"),
            (f"accepted, {counted(one.drafted, 'step')}", "good"),
            (f"  [{one.verdict_seq}]", "dim"),
        )
        _tolerated(one)
        return
    if one.decision == "unusable":
        line(
            (f"The review of {who} could not be used: ", "strong"),
            (one.cause or "", "bad"),
            (f"  [{one.verdict_seq}]", "dim"),
        )
        line("Nothing was accepted: an unreadable review never lets a write through.", indent=2)
        block(shortened(one.raw, _LONG), "dim", indent=2)
        return
    line(
        (f"Verdict of {who}: ", "strong"),
        (f"step {one.accepted + 1} of {one.drafted} is wrong", "bad"),
        f", {one.category}",
        (f"  [{one.verdict_seq}]", "dim"),
    )
    line(("“", "dim"), one.reason or "", ("”", "dim"), indent=2)
    _tolerated(one)


def _tolerated(one: WhyItem) -> None:
    """Say what of a verdict's form was passed over; that of a replacement is told where its repair is."""
    if one.status == "repaired" and one.cause and one.cause != one.fused_unusable:
        line(("Read though its form is not the one asked for: ", "dim"), one.cause, indent=2)


def _discarded(one: WhyItem) -> None:
    gone = [step for step in one.steps if step.fate == "discarded"]
    if not gone:
        return
    numbers = f"step {gone[0].number}" if len(gone) == 1 else f"steps {gone[0].number} to {gone[-1].number}"
    kept = f"Kept: {'step 1' if one.accepted == 1 else f'steps 1 to {one.accepted}'}. " if one.accepted else ""
    line((f"{kept}Discarded: ", "strong"), f"{numbers}; {_cost(gone)}.")
    for step in gone:
        said = _undone(step)
        if said is not None:
            line(("! ", "bad"), f"Step {step.number} {said}", (f"  [{step.act_seq}]", "dim"), indent=2, hang=2)


def _cost(gone: Sequence[WhyStep]) -> str:
    """Say what the discarded steps had done: as a rule nothing, since only reads run before a verdict."""
    ran = [step for step in gone if step.act_seq is not None]
    if not ran:
        return "it never ran" if len(gone) == 1 else "none of them ran"
    if any(_undone(step) is not None for step in ran):
        return (
            f"{len(ran)} of them had run, and not without effect" if len(gone) > 1 else "it had run, and has an effect"
        )
    reads = f"{counted(len(ran), 'read')} had run"
    if all(step.changed is False for step in ran):
        return f"{reads}, and changed nothing"
    return f"{reads}; the environment does not say whether the state changed"


def _undone(step: WhyStep) -> str | None:
    """Say what a discarded step did that discarding it does not undo, where it did."""
    if step.act_seq is None:
        return None
    if isinstance(step.action, Reply | Finish):
        return "had been sent to the user before it was discarded: what is said stays said."
    if step.changed:
        return "had run and changed the state before it was discarded: discarding it undid nothing."
    if step.effect != Effect.READ and step.changed is None:
        return f"had been sent as a {step.effect} before it was discarded, and may have changed the state."
    return None


def _repair(one: WhyItem) -> None:
    if one.repair_kind is None:
        if one.decision != "accept":
            line(("No repair followed.", "warning"))
        return
    how = "inside the verdict" if one.repair_kind == "fused" else "in a turn of its own"
    if one.fused_unusable:
        line(("Its first proposal could not be used: ", "dim"), one.fused_unusable)
    line((f"Instead, {how}, the strong model did:", "strong"), (f"  [{one.repair_seq}]", "dim"))
    for step in one.repair:
        line(
            ("➤ ", "good"),
            (shortened(action_text(step.action), _LONG), "good"),
            (f"  {step.effect}", "dim"),
            (f"  [{step.act_seq}]" if step.act_seq else "  never sent", "dim"),
            indent=2,
            hang=3,
        )
        if step.observation is not None:
            content = shortened(step.observation.content, _LONG) or "(empty)"
            line(("→ ", "dim"), (content, "bad" if step.observation.error else ""), indent=5, hang=2)


def _ending(episode: Episode) -> None:
    line()
    if episode.ended is None:
        line("The episode has no end yet.")
        return
    ended = episode.ended
    reward = f", reward {ended.reward}" if ended.reward is not None else ""
    line("The episode ended ", status_span(ended.outcome), f" ({ended.reason}){reward}.")
