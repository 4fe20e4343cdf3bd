"""What those who read a log make of any episode: the ledger, the rules, the answers. Counterpart of `claims`."""

from collections.abc import Callable

from spectrace.audit.lines import line
from spectrace.audit.rules import violations
from spectrace.audit.usage import usage_of
from spectrace.audit.why import why_items
from spectrace.core.deeds import deeds
from spectrace.core.events import ActCompleted, ActRequested, EffectObserved, GenerateRequested, VerdictGiven
from tests.properties.played import Played


def the_audit_finds_a_guess_that_was_a_write_and_nothing_else(played: Played) -> None:
    """Nobody can know beforehand that a declared look-up will change the state; that it did so is said."""
    guessed = {e.body.request for e in played.all(EffectObserved) if e.body.authority == "speculative"}

    assert {found.seq for found in violations(played.events)} == guessed


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
    the_audit_finds_a_guess_that_was_a_write_and_nothing_else,
    every_act_is_one_deed,
    why_tells_each_review,
    there_is_a_line_for_each_event_and_a_use_for_each_call,
)
