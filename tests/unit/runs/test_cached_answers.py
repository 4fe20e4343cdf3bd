"""A recorded answer is given once, to its own action at its own place among the writes; H8, H9 and H10."""

import json

import pytest

from spectrace.core.commands import Act
from spectrace.core.events import ActCompleted, ActionChecked, ActRequested, EffectObserved, Event
from spectrace.core.types import Call, Effect, Finish, Observation
from spectrace.runs.cached_answers import CachedAnswers, Missed, in_short

POLL = Call("poll", '{"job": 1}')
OTHER = Call("poll", '{"job": 2}')
PAY = Call("pay", '{"amount": 5}')


def record(*lines, checked=()):
    """Events of acts: (lane, action, what was answered); None is no answer. `pay` is a write."""
    events = []

    def add(lane, body):
        events.append(Event("e", len(events), lane, 0, body))
        return len(events) - 1

    for number, (lane, action, said) in enumerate(lines):
        effect = Effect.WRITE if action == PAY else Effect.READ
        about = {"effect": effect, "authority": "read", "tool": "t", "position": f"s1.{number}"}
        request = add(lane, ActRequested(**about, action=action, requestor="agent", idempotency_key=""))
        if said is not None:
            answered = {"fingerprint_before": None, "fingerprint_after": None, "latency_us": 1, "source": "live"}
            add(lane, ActCompleted(**about, outcome="ok", request=request, observation=Observation(said), **answered))
    for action, objection in checked:
        add("", ActionChecked(tool="t", action=action, objection=objection))
    return events


def ask(cache, action, lane=""):
    effect = Effect.WRITE if action == PAY else Effect.READ
    return cache.answer(lane, Act(action, effect, "read", "s1.1")).observation.content


def missed(cache, action, lane=""):
    with pytest.raises(Missed) as miss:
        ask(cache, action, lane)
    return miss.value.difference


def test_identical_calls_are_answered_in_the_order_asked():
    cache = CachedAnswers.of(record(("", POLL, "1"), ("", POLL, "2")))

    assert [ask(cache, POLL), ask(cache, POLL)] == ["1", "2"]
    assert (cache.left(), cache.reordered()) == ([], None)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0)])
def test_parallel_calls_have_their_own_answers_under_any_scheduling(order):
    asked = [("0", POLL, "first"), ("1", OTHER, "other"), ("2", POLL, "third")]
    cache = CachedAnswers.of(record(*asked))
    answers = {number: ask(cache, asked[number][1], asked[number][0]) for number in order}

    assert [answers[number] for number in range(3)] == ["first", "other", "third"]
    assert cache.reordered() is None


def test_what_nobody_asks_for_is_left_over_and_reported():
    cache = CachedAnswers.of(record(("", POLL, "1"), ("", POLL, "2"), ("", OTHER, "3")))
    ask(cache, POLL)
    left = cache.left_over()

    assert (left.seq, left.recorded, left.found) == (2, 'poll({"job": 1})', "never asked")
    assert "(1 more are left over)" in left.cause


def test_the_same_calls_in_another_order_have_their_own_answers_and_the_order_is_a_difference():
    cache = CachedAnswers.of(record(("", POLL, "1"), ("", OTHER, "2")))

    assert [ask(cache, OTHER), ask(cache, POLL)] == ["2", "1"]
    assert cache.reordered().cause.startswith("The same calls in another order")
    assert (cache.reordered().seq, cache.left()) == (2, [])


def test_one_read_more_than_recorded_is_already_used_and_has_no_answer():
    cache = CachedAnswers.of(record(("", POLL, "1"), ("", OTHER, "2")))
    ask(cache, POLL)
    miss = missed(cache, POLL)

    assert miss.cause == "Already used: the record answers it once at this place (events 0)."
    assert (miss.seq, miss.recorded, miss.found) == (2, in_short(OTHER), in_short(POLL))
    assert [near.seq for near in miss.nearest] == [0, 2]


def test_a_call_that_was_never_made_is_not_recorded_and_the_nearest_are_named_with_what_differs():
    cache = CachedAnswers.of(record(("", PAY, "paid"), ("", POLL, "1")))
    miss = missed(cache, Call("poll", '{"job": 9}'))

    assert (miss.cause, miss.nearest[0].seq, miss.nearest[0].differs) == ("Not recorded.", 2, ("/arguments/job",))


def test_a_read_after_a_write_is_another_one_than_the_same_before():
    cache = CachedAnswers.of(record(("", POLL, "03-02"), ("", PAY, "ok"), ("", POLL, "03-16")))

    assert [ask(cache, POLL), ask(cache, PAY), ask(cache, POLL)] == ["03-02", "ok", "03-16"]
    assert "Already used" in missed(cache, POLL).cause


def test_a_call_at_another_place_among_the_writes_is_a_miss_that_says_where_it_was():
    cache = CachedAnswers.of(record(("", PAY, "ok"), ("", POLL, "1")))
    miss = missed(cache, POLL)

    assert miss.cause == (
        "Recorded at another place among the writes only (event 2 after 1 write); here 0 writes ran before it."
    )


def test_a_read_that_changed_the_state_moves_the_place():
    events = record(("", POLL, "1"), ("", OTHER, "2"))
    changed = EffectObserved(
        effect="write", authority="unreviewed", tool="t", request=0, fingerprint_before="", fingerprint_after=""
    )
    events.insert(2, Event("e", 2, "", 0, changed))
    cache = CachedAnswers.of(events)

    assert "after 1 write" in missed(cache, OTHER).cause
    assert [ask(cache, POLL), ask(cache, OTHER)] == ["1", "2"]


def test_a_write_without_an_answer_in_the_record_is_never_answered():
    miss = missed(CachedAnswers.of(record(("", PAY, None))), PAY)

    assert miss.cause == "The record has no answer to event 0: it broke off there."


@pytest.mark.parametrize(
    ("asked", "rule"),
    [
        ('{"id": " A-1", "n": 2}', "outer space"),
        ('{"id": "A-1", "n": 2.0}', "number form"),
        ('{"id": "A-1", "n": 2, "x": null}', "null for absent"),
    ],
)
def test_a_call_written_otherwise_matches_only_where_that_is_asked_for_and_is_named(asked, rule):
    events = record(("", Call("get", '{"id": "A-1", "n": 2}'), "1"))
    strict, lenient = CachedAnswers.of(events), CachedAnswers.of(events, lenient=True)

    assert f"event 0 differs in {rule} only, which --lenient lets match" in missed(strict, Call("get", asked)).cause
    assert ask(lenient, Call("get", asked)) == "1"
    assert [(one.seq, one.rules) for one in lenient.normalised] == [(0, (rule,))]


def test_the_order_of_members_means_nothing_and_an_exact_match_comes_before_a_normalised_one():
    events = record(("", Call("get", '{"n": 2.0, "a": 1}'), "1"), ("", Call("get", '{"n": 2, "a": 1}'), "2"))
    cache = CachedAnswers.of(events, lenient=True)

    assert ask(cache, Call("get", '{"a": 1, "n": 2}')) == "2"
    assert cache.normalised == []


def test_an_objection_is_the_recorded_one_and_what_was_never_checked_is_said():
    cache = CachedAnswers.of(record(checked=[(POLL, "never seen"), (POLL, None)]))

    assert [cache.objection(POLL), cache.objection(POLL), cache.objection(POLL), cache.objection(OTHER)] == [
        (True, "never seen"),
        (True, None),
        (False, None),
        (False, None),
    ]


def test_an_action_is_shown_with_its_arguments_and_a_long_one_cut():
    assert in_short(Finish("done")) == json.dumps({"finish": "done"})
    assert in_short(Call("get", "x" * 500)).endswith("…")
