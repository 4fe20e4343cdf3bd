"""What those who read a log make of any episode: the fold, the ledger, the rules, the answers. Beside `claims`."""

from collections.abc import Callable

from spectrace.audit.lines import line
from spectrace.audit.rules import violations
from spectrace.audit.usage import usage_of
from spectrace.audit.why import why_items
from spectrace.core.deeds import deeds
from spectrace.core.events import (
    ActCompleted,
    ActRequested,
    EffectObserved,
    EpisodeStarted,
    GenerateRequested,
    StateMoved,
    StepsDiscarded,
    VerdictGiven,
)
from spectrace.core.protocols import protocol_of
from spectrace.core.reviewing import review_messages
from spectrace.core.roles import Budget, Desk, Manner
from spectrace.core.setup import setup_of
from spectrace.core.types import Effect
from tests.properties.claims import step_count
from tests.properties.played import Played


def the_history_is_what_was_committed(played: Played) -> None:
    """Each step once. A guess that was right is the step that it foretold; one that was a write stands itself."""
    committed = [
        folded.step.position
        for segment in played.episode.segments
        for folded in (*segment.steps, *(segment.repair.steps if segment.repair else ()))
        if folded.fate == "committed" and folded.step.observation is not None
    ]
    stands = [
        guess.step.position
        for segment in played.episode.segments
        for guess in segment.guesses
        if guess.fate == "committed" and guess.step.effect is Effect.WRITE
    ]

    assert sorted(step.position for step in played.episode.history.steps) == sorted(committed + stands)


def the_totals_are_counted_alike_by_everybody(played: Played) -> None:
    """By the driver, in the end's event, by the fold, and here."""
    told = played.recorded.totals
    by_hand = {
        "strong_calls": sum(event.body.who == "strong" for event in played.all(GenerateRequested)),
        "weak_calls": sum(event.body.who == "weak" for event in played.all(GenerateRequested)),
        "reviews": len(played.all(VerdictGiven)),
        "rejections": sum(event.body.outcome == "reject" for event in played.all(VerdictGiven)),
        "unusable": sum(event.body.outcome == "unusable" for event in played.all(VerdictGiven)),
        "steps": step_count(played.events),
        "discarded": sum(event.body.end - event.body.start + 1 for event in played.all(StepsDiscarded)),
    }

    assert played.episode.ended is not None
    assert told == played.episode.ended.totals == played.episode.totals
    assert {name: getattr(told, name) for name in by_hand} == by_hand


def each_reviewed_prompt_can_be_made_again_from_the_events(played: Played) -> None:
    """What a re-verification asks is what the first verifier was asked."""
    started = played.events[0].body
    assert isinstance(started, EpisodeStarted)
    manner = getattr(protocol_of(started.protocol, played.options), "manner", Manner())
    desk = Desk(setup_of(started), Budget(), manner=manner)
    reviews = [event.body for event in played.all(GenerateRequested) if event.body.role == "reviewer"]
    for segment in played.episode.segments:
        if segment.verdict is None or manner.acceptance == "exact":
            continue
        asked = next(body for body in reviews if body.position == f"s{segment.index}")
        assert asked.messages == review_messages(desk, segment.history, segment.under_review)


def the_audit_finds_a_guess_that_was_a_write_and_nothing_else(played: Played) -> None:
    """Nobody can know beforehand that a declared look-up will change the state; that it did so is said.

    What is worth a look, and is no violation, is what the log itself tells: no rule makes anything up.
    """
    guessed = {e.body.request for e in played.all(EffectObserved) if e.body.authority == "speculative"}
    found = violations(played.events)
    warned = {(one.rule, one.seq) for one in found if one.severity == "warning"}

    assert {(one.rule, one.seq) for one in found if one.severity == "violation"} == {
        ("speculative_write", seq) for seq in guessed
    }
    assert warned == {("read_changed_state", e.body.request) for e in played.all(EffectObserved)} | {
        ("state_moved", e.seq) for e in played.all(StateMoved)
    }


def every_act_is_one_deed(played: Played) -> None:
    """With its authority, and with what came of it, by the log's own word."""
    observed = {event.body.request: event.body.authority for event in played.all(EffectObserved)}
    answers = {event.body.request: event.body for event in played.all(ActCompleted)}
    asked = {event.seq: observed.get(event.seq, event.body.authority) for event in played.all(ActRequested)}
    done = [deed for deed in deeds(played.events) if deed.requested_at is not None]

    assert {deed.seq: deed.authority for deed in done} == asked
    for deed in done:
        answer = answers.get(deed.seq)
        if answer is None:
            assert deed.outcome in {"indeterminate", "error"}
        else:
            changed = answer.fingerprint_before != answer.fingerprint_after
            assert (deed.outcome, bool(deed.state_changed)) == (answer.outcome, changed)


def why_tells_each_review(played: Played) -> None:
    """Every verdict with the steps that it counts."""
    given = [(event.seq, event.body.drafted, event.body.accepted) for event in played.all(VerdictGiven)]

    assert [(item.verdict_seq, len(item.steps), item.accepted) for item in why_items(played.events)] == given


def there_is_a_line_for_each_event_and_a_use_for_each_call(played: Played) -> None:
    """Whatever it holds."""
    assert [line(event).seq for event in played.events] == [event.seq for event in played.events]
    assert sum(used.calls for used in usage_of(played.events)) == len(played.all(GenerateRequested))


READABLE: tuple[Callable[[Played], None], ...] = (
    the_history_is_what_was_committed,
    the_totals_are_counted_alike_by_everybody,
    each_reviewed_prompt_can_be_made_again_from_the_events,
    the_audit_finds_a_guess_that_was_a_write_and_nothing_else,
    every_act_is_one_deed,
    why_tells_each_review,
    there_is_a_line_for_each_event_and_a_use_for_each_call,
)
