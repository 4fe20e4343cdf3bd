"""What both pages are made of: chips, facts and the cards of segments.

Nothing is drawn in colour by its text alone: every chip says in words what its tone says. Keys of containers become CSS
classes (see style.css), so they are made of numbers and of this module's own words, never of recorded text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import streamlit as st

from spectrace.audit import notes
from spectrace.core.events import ControlPassed, PlanMade, ProgressJudged
from spectrace.core.fold import Episode, FoldedRepair, FoldedSegment, FoldedStep, Note
from spectrace.core.types import Effect, Verdict
from viewer.literal import block, inline, name_and_rest

OBSERVATION = 1_200
"""Characters of an observation on a card; its event shows more."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What became of a segment, in a word, with its tone."""

    word: str
    tone: str


@dataclass(frozen=True, slots=True)
class Beside:
    """What an episode tells of its segments and steps beside themselves, looked up once for a page."""

    drivers: Mapping[int, str | None] = field(default_factory=dict)
    """Segment -> weak or strong, under a protocol in which control is passed."""
    notes: Mapping[int, Sequence[Note]] = field(default_factory=dict)
    """Segment -> replies in it that broke the form."""
    scores: Mapping[int, str] = field(default_factory=dict)
    """step.drafted -> the probability of its scored verdict."""
    taken: Mapping[int, str] = field(default_factory=dict)
    """act.requested -> the guess that it was sent for."""


def beside(episode: Episode) -> Beside:
    """Look up what the cards of an episode show."""
    return Beside(
        {segment.index: notes.driver(episode, segment.index) for segment in episode.segments},
        notes.inside(episode),
        notes.scores(episode),
        notes.taken_guesses(episode),
    )


def chip(text: str, tone: str, where: str) -> None:
    """Draw a short text in a frame: tones are accept, reject, hold, repair, warn, quiet."""
    with st.container(key=f"chip-{tone}-{where}", width="content"):
        st.text(inline(text, 60))


def fact(label: str, value: str, where: str, tone: str = "plain") -> None:
    """Draw a value under its small label."""
    with st.container(key=f"fact-{tone}-{where}", width="content", gap=None):
        st.text(label)
        st.text(value)


def event_button(seq: int, where: str) -> None:
    """Draw the way to an event."""
    st.button(f"#{seq}", key=f"goto-{where}", type="tertiary", on_click=choose, args=(seq,))


def choose(seq: int) -> None:
    """Name an event in the address: the event pane shows it."""
    st.query_params["event"] = str(seq)


def standing(segment: FoldedSegment, driver: str | None = None) -> Standing:
    """Say what became of a segment, or who drove where nothing is reviewed."""
    verdict = segment.verdict
    if verdict is not None:
        return _judged(verdict)
    if driver is not None:
        return Standing(f"the {inline(driver, 20)} model drove", "repair" if driver == "strong" else "quiet")
    if segment.guesses:
        taken = sum(guess.fate == "committed" for guess in segment.guesses)
        return Standing(f"guesses taken: {taken} of {len(segment.guesses)}", "accept" if taken else "quiet")
    reviewed = {step.reviewed for step in segment.steps}
    if "no" in reviewed:
        return Standing("committed unreviewed", "warn")
    if "yes" in reviewed:
        return Standing("reviewed together with a later segment", "accept")
    if segment.steps and all(step.fate == "discarded" for step in segment.steps):
        return _thrown_away({step.discarded for step in segment.steps})
    if "not_applicable" in reviewed:
        return Standing("no review in this protocol", "quiet")
    return Standing("open: nothing decided", "warn")


def _thrown_away(reasons: set[str | None]) -> Standing:
    if reasons <= {"budget", "failed"}:
        return Standing("discarded: the episode ended before its review", "warn")
    return Standing("discarded by the review of a later segment", "reject")


def _judged(verdict: Verdict) -> Standing:
    match verdict.decision:
        case "accept":
            return Standing(f"accepted {verdict.accepted} of {verdict.drafted}", "accept")
        case "reject":
            return Standing(f"rejected at step {verdict.accepted + 1} of {verdict.drafted}", "reject")
        case _:
            return Standing("review unusable: nothing accepted", "warn")


def pages(segments: Sequence[FoldedSegment], weight: int) -> list[Sequence[FoldedSegment]]:
    """Cut the segments into pages of about `weight` steps: what a browser draws at once must stay small."""
    cut: list[Sequence[FoldedSegment]] = []
    begin = load = 0
    for number, segment in enumerate(segments):
        own = 2 + len(segment.steps) + len(segment.guesses) + (len(segment.repair.steps) if segment.repair else 0)
        if load and load + own > weight:
            cut.append(segments[begin:number])
            begin, load = number, 0
        load += own
    return [*cut, segments[begin:]] if segments else []


def page_of(cut: Sequence[Sequence[FoldedSegment]], seq: int) -> int:
    """Return the number, from 1, of the page whose segments hold or precede an event."""
    begun = [number for number, page in enumerate(cut, 1) if notes.first_seq(page[0]) <= seq]
    return begun[-1] if begun else 1


def note(one: Note) -> None:
    """Draw what stands between the steps: the plan, a judgement, who goes on, a reply that broke the form."""
    where, text = str(one.seq), notes.words(one)
    with st.container(key=f"note-{_tone(one)}-{where}", gap=None):
        with st.container(key=f"notehead-{where}", horizontal=True, vertical_alignment="center"):
            with st.container(width="stretch"):
                st.text(inline(notes.headline(one)))
            event_button(one.seq, f"note-{where}")
        if text:
            with st.container(key=f"notetext-{where}"):
                st.text(block(text, 4_000 if isinstance(one.body, PlanMade) else 1_200))


def _tone(one: Note) -> str:
    match one.body:
        case PlanMade():
            return "plan"
        case ProgressJudged(outcome=outcome):
            return "accept" if outcome == "progress" else "warn"
        case ControlPassed(to=to):
            return "strong" if to == "strong" else "weak"
        case _:
            return "odd"


def segment_card(segment: FoldedSegment, number: int, known: Beside) -> None:
    """Draw a segment: its steps, its verdict, and the repair beside what it replaces. `number` is its place, from 0."""
    where, now = str(number), standing(segment, known.drivers.get(segment.index))
    with st.container(key=f"segment-{now.tone}-{where}", gap="small"):
        with st.container(key=f"head-{where}", horizontal=True, vertical_alignment="center"):
            with st.container(key=f"title-{where}", width="content"):
                st.text(f"Segment {segment.index}")
            with st.container(key=f"range-{where}", width="stretch"):
                st.text(_range(segment))
            chip(now.word, now.tone, where)
        for place, step in enumerate(segment.steps, 1):
            held = segment.reason == "held" and place == len(segment.steps)
            _step(step, str(place), f"{where}-{place}", known, held=held)
        for place, guess in enumerate(segment.guesses, 1):
            _guess(guess, f"g{place}", f"{where}-g{place}")
        if segment.verdict is not None and segment.verdict.decision != "accept":
            _verdict(segment, segment.verdict, where)
        elif segment.verdict_seq is not None and segment.verdict is not None:
            _accepted(segment.verdict, segment.verdict_seq, where)
        if segment.repair is not None:
            _repair(segment, segment.repair, where)
        for one in known.notes.get(segment.index, ()):
            note(one)


def _range(segment: FoldedSegment) -> str:
    seqs = list(notes.seqs(segment))
    events = f"events {min(seqs)} to {max(seqs)}" if seqs else "no events"
    closed = f"closed: {inline(segment.reason, 40)}" if segment.reason else "no end of the segment recorded"
    return events if segment.verdict is None and segment.reason is None else f"{closed}  ·  {events}"


def _step(folded: FoldedStep, number: str, where: str, known: Beside, *, held: bool) -> None:
    fate = "discarded" if folded.fate == "discarded" else "held" if held else "plain"
    with st.container(key=f"step-{fate}-{where}", gap=None):
        _action_line(folded, number, where, chips=_step_chips(folded, known, held=held))
        _observation(folded, where, held=held)


def _guess(folded: FoldedStep, number: str, where: str) -> None:
    """Draw what the weak model expected the strong one to do."""
    taken, lost = folded.fate == "committed", folded.fate == "discarded"
    words = "guess taken" if taken else "guess lost" if lost else "guess"
    ran = [] if taken or folded.act is None else [("had run in vain" if lost else "ran", "quiet")]
    with st.container(key=f"step-{'guess' if taken or not lost else 'discarded'}-{where}", gap=None):
        _action_line(folded, number, where, chips=[*ran, (words, "accept" if taken else "reject" if lost else "quiet")])
        _observation(folded, where, held=False)


def _step_chips(folded: FoldedStep, known: Beside, *, held: bool) -> list[tuple[str, str]]:
    chips: list[tuple[str, str]] = []
    if folded.seq in known.scores:
        chips.append((f"P(yes) {known.scores[folded.seq]}", "quiet"))
    if folded.act is not None and folded.act in known.taken:
        chips.append((f"seen by guess {inline(known.taken[folded.act], 20)}", "accept"))
    if held:
        chips.append(("held, then executed" if folded.act is not None else "held for review", "hold"))
    if folded.fate == "discarded":
        chips.append(("discarded", "reject"))
    elif folded.fate == "open":
        chips.append(("open", "warn"))
    if folded.step.effect is Effect.WRITE and not held:
        chips.append(("write", "warn" if folded.reviewed == "no" else "quiet"))
    if folded.objection is not None:
        chips.append(("never sent", "reject"))
    return chips


def _action_line(folded: FoldedStep, number: str, where: str, chips: Sequence[tuple[str, str]]) -> None:
    name, rest = name_and_rest(folded.step.action)
    with st.container(key=f"line-{where}", horizontal=True, vertical_alignment="top", wrap=False):
        with st.container(key=f"number-{where}", width=22):
            st.text(number)
        with st.container(key=f"action-{where}", width="stretch", horizontal=True):
            st.text(name)
            st.text(rest)
        for place, (word, tone) in enumerate(chips):
            chip(word, tone, f"{where}-{place}")
        event_button(folded.seq, where)


def _observation(folded: FoldedStep, where: str, *, held: bool) -> None:
    seen = folded.step.observation
    if seen is None and folded.fate == "discarded":
        text, tone = "never executed", "none"
    elif seen is None:
        text, tone = "not executed" if held else "no observation recorded", "none"
    elif not seen.content and seen.done:
        text, tone = "the episode ended with this", "none"
    else:
        text, tone = block(seen.content, OBSERVATION) or "(empty)", "error" if seen.error else "ok"
    with st.container(key=f"seen-{tone}-{where}"):
        st.text(text)


def _accepted(verdict: Verdict, seq: int, where: str) -> None:
    with st.container(key=f"verdict-accept-{where}", horizontal=True, vertical_alignment="center"):
        with st.container(width="stretch"):
            note = f"  ·  reply repaired: {inline(verdict.cause or '')}" if verdict.status == "repaired" else ""
            st.text(f"The strong model accepts every step{note}")
        event_button(seq, f"verdict-{where}")


def _verdict(segment: FoldedSegment, verdict: Verdict, where: str) -> None:
    rejected = verdict.decision == "reject"
    with st.container(key=f"verdict-{'reject' if rejected else 'warn'}-{where}", gap="small"):
        with st.container(key=f"why-{where}", horizontal=True, vertical_alignment="center"):
            with st.container(key=f"whytitle-{where}", width="content"):
                st.text(f"Step {verdict.accepted + 1} rejected" if rejected else "Review could not be read")
            with st.container(width="stretch"):
                chip(_words(verdict.category or "no category") if rejected else "unusable", "reject", f"why-{where}")
            if segment.verdict_seq is not None:
                event_button(segment.verdict_seq, f"verdict-{where}")
        reason = verdict.reason if rejected else verdict.cause
        with st.container(key=f"reason-{where}"):
            st.text(block(reason, 2_000) if reason else "no reason given")


def _words(category: str) -> str:
    return category.replace("_", " ")


def _repair(segment: FoldedSegment, repair: FoldedRepair, where: str) -> None:
    """Draw what the strong model did instead, beside what it was instead of."""
    left, right = st.columns(2, gap="small")
    with left, st.container(key=f"before-{where}", gap=None):
        st.text("Rejected draft")
        accepted = segment.verdict.accepted if segment.verdict is not None else 0
        if accepted < len(segment.judged):
            name, rest = name_and_rest(segment.judged[accepted].step.action)
            with st.container(key=f"struck-{where}"):
                st.text(f"{name} {rest}")
        else:
            st.text("no draft that could be read")
    with right, st.container(key=f"after-{where}", gap=None):
        st.text(f"Repair by the strong model ({inline(repair.kind, 20)})")
        for place, step in enumerate(repair.steps, 1):
            spot = f"{where}-r{place}"
            never = [("never sent", "reject")] if step.objection is not None else []
            write = [("write", "repair")] if step.step.effect is Effect.WRITE else []
            _action_line(step, f"r{place}", spot, [*write, *never])
            _observation(step, spot, held=True)
        if repair.fused_unusable is not None:
            with st.container(key=f"fused-{where}"):
                st.text(f"The verdict's own replacement was not used: {block(repair.fused_unusable, 400)}")
