"""Each claim can fail: an episode that breaks it, and it alone of those that look there, is told from a whole one."""

from dataclasses import replace

import pytest

from spectrace.core.events import (
    ActCompleted,
    ActRequested,
    Event,
    GenerateCompleted,
    GenerateRequested,
    StepsDiscarded,
    VerdictGiven,
)
from spectrace.core.fold import fold
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Message, Observation
from tests.properties import claims, claims_of_readers
from tests.properties.played import Played, play
from tests.properties.scripts import Judged, Script

REJECTED = Script(
    weak=("read", "read", "write", "write"),
    verdicts=(Judged("reject", "middle", "read"), Judged("accept")),
)
"""One look-up stays, one is discarded with the held write; then a write is accepted."""


def played() -> Played:
    return play(REJECTED, SpecAgent, {})


def with_event(whole: Played, event: Event, **changes: object) -> Played:
    events = list(whole.events)
    events[event.seq] = replace(event, body=replace(event.body, **changes))
    return replace(whole, events=events, episode=fold(events))


def last_prompt(whole: Played) -> Event:
    return whole.all(GenerateRequested)[-1]


def saying(whole: Played, text: str) -> Played:
    prompt = last_prompt(whole)
    return with_event(whole, prompt, messages=(*prompt.body.messages, Message("user", text)))


def unheard_of(whole: Played) -> Played:
    whole.world.calls.pop()
    return whole


def changed_by_a_discarded_look_up(whole: Played) -> Played:
    whole.world.calls[1].after += 1
    return whole


def forgotten(whole: Played) -> Played:
    """The rejected steps stay where they were."""
    gone = whole.all(StepsDiscarded)[0]
    return replace(whole, episode=fold(event for event in whole.events if event is not gone))


def kept_without_having_run(whole: Played) -> Played:
    act = whole.all(ActRequested)[-1]
    return replace(
        whole, episode=fold(event for event in whole.events if event.seq < act.seq), events=whole.events[: act.seq]
    )


def remembered_twice(whole: Played) -> Played:
    history = whole.episode.history
    whole.episode.history = history.then(history.steps[0])
    return whole


def told_by_position(whole: Played) -> Played:
    return saying(whole, "[s1.2] still here")


def told_by_word(whole: Played) -> Played:
    return saying(whole, next(step.step.action for step in whole.episode.segments[0].steps[1:]).arguments)


def begun_too_early(whole: Played) -> Played:
    whole.world.calls[-1].flushed = whole.all(ActRequested)[-1].seq - 1
    return whole


def without_a_verdict(whole: Played) -> Played:
    act = next(event for event in whole.all(ActRequested) if event.body.authority.startswith("verdict:"))
    return with_event(whole, act, authority=f"verdict:{whole.all(VerdictGiven)[0].seq}")


def answered_otherwise(whole: Played) -> Played:
    return with_event(whole, whole.all(ActCompleted)[0], observation=Observation("another"))


def counted_otherwise(whole: Played) -> Played:
    return replace(whole, recorded=replace(whole.recorded, totals=replace(whole.recorded.totals, steps=1)))


def over_budget(whole: Played) -> Played:
    return replace(whole, options={**whole.options, "max_steps": 2})


def without_an_end(whole: Played) -> Played:
    return replace(whole, events=whole.events[:-1])


def reviewed_otherwise(whole: Played) -> Played:
    review = next(event for event in whole.all(GenerateRequested) if event.body.role == "reviewer")
    return with_event(whole, review, messages=review.body.messages[1:])


def sent_ahead_of_the_user(whole: Played) -> Played:
    act = whole.all(ActRequested)[-1]
    return with_event(whole, act, authority="speculative")


def done_in_anothers_place(whole: Played) -> Played:
    first, *_, last = whole.all(ActRequested)
    return with_event(whole, last, position=first.body.position)


def counted_to_the_last(whole: Played) -> Played:
    given = whole.all(VerdictGiven)[0]
    return with_event(whole, given, drafted=given.body.drafted + 1)


def without_an_answer(whole: Played) -> Played:
    answer = whole.all(GenerateCompleted)[0]
    return replace(whole, events=[event for event in whole.events if event is not answer])


BROKEN = (
    (claims.the_environments_own_log_is_the_acts_in_order, unheard_of),
    (
        claims.what_changed_the_state_is_the_committed_writes_and_the_indeterminate_ones,
        changed_by_a_discarded_look_up,
    ),
    (claims.what_ran_and_was_not_committed_is_the_discarded_reads, changed_by_a_discarded_look_up),
    (claims.what_ran_and_was_not_committed_is_the_discarded_reads, forgotten),
    (claims.what_was_committed_ran_or_was_never_sent, kept_without_having_run),
    (claims_of_readers.the_history_is_what_was_committed, remembered_twice),
    (claims.no_later_prompt_speaks_of_discarded_steps, told_by_position),
    (claims.no_later_prompt_speaks_of_discarded_steps, told_by_word),
    (claims.every_act_has_an_earlier_authority_on_stable_storage, begun_too_early),
    (claims.every_act_has_an_earlier_authority_on_stable_storage, without_a_verdict),
    (claims.a_replay_gives_equal_events, answered_otherwise),
    (claims_of_readers.the_totals_are_counted_alike_by_everybody, counted_otherwise),
    (claims.no_budget_is_exceeded_by_more_than_one_call, over_budget),
    (claims.an_episode_ends_once_and_last, without_an_end),
    (claims_of_readers.each_reviewed_prompt_can_be_made_again_from_the_events, reviewed_otherwise),
    (claims_of_readers.the_audit_finds_a_guess_that_was_a_write_and_nothing_else, sent_ahead_of_the_user),
    (claims_of_readers.every_act_is_one_deed, done_in_anothers_place),
    (claims_of_readers.why_tells_each_review, counted_to_the_last),
    (claims_of_readers.there_is_a_line_for_each_event_and_a_use_for_each_call, without_an_answer),
)


@pytest.mark.parametrize(("holds", "breaks"), BROKEN, ids=lambda one: one.__name__)
def test_a_claim_holds_of_a_whole_episode_and_not_of_one_that_breaks_it(holds, breaks):
    holds(played())

    with pytest.raises(AssertionError):
        holds(breaks(played()))


def test_every_claim_is_broken_once():
    assert {holds for holds, _ in BROKEN} == {*claims.HOLDS, *claims_of_readers.READABLE}
