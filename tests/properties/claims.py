"""What holds of every episode, whatever the models said and the world did. One function a claim; PROTOCOL section 2.

The letters are those of the issue that asked for them. `HOLDS` lists them all; each compares whole values.
"""

import asyncio
import re
from collections.abc import Callable, Iterator

from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    ActRequested,
    EpisodeEnded,
    Event,
    GenerateCompleted,
    GenerateRequested,
    RepairMade,
    StepDrafted,
    StepsDiscarded,
    VerdictGiven,
)
from spectrace.core.fold import FoldedStep
from spectrace.core.types import Effect, Message
from spectrace.runs.replay import replay_episode
from tests.properties.played import Played
from tests.properties.stage import TOKENS

_POSITION = re.compile(r"\[(s\d+\.r?\d+)\]")
_WORD = re.compile(r"thing\d+")
_QUESTION = "A weaker agent's next step was rejected."
"""Begins the repairer's question, which is the last word on the rejection: the history holds none."""
_BY_MODELS = ("weak", "strong")


def the_environments_own_log_is_the_acts_in_order(played: Played) -> None:
    """(a)"""
    asked = [event.body.action for event in played.all(ActRequested)]

    assert [called.action for called in played.world.calls] == asked


def what_changed_the_state_is_the_committed_writes_and_the_indeterminate_ones(played: Played) -> None:
    """(b) In order; a reply and a final answer change nothing in this world."""
    acts = _acts(played)
    changed = [act.position for act, called in zip(acts, played.world.calls, strict=True) if called.writes]
    committed = [
        step.position
        for step in played.episode.history.steps
        if step.effect is Effect.WRITE and any(act.position == step.position for act in acts)
    ]
    indeterminate = [
        event.body.position
        for event in played.all(ActFailed)
        if event.body.outcome == "indeterminate" and event.body.effect == Effect.WRITE
    ]

    assert changed == committed + indeterminate


def what_ran_and_was_not_committed_is_the_discarded_reads(played: Played) -> None:
    """(c) They left the state as it was, by the log and by the world's own word. What is indeterminate is neither."""
    steps = list(steps_of(played))
    settled = {folded.step.position for folded in steps if folded.fate == "committed"} | _unknown(played)
    discarded = {folded.step.position for folded in steps if folded.fate == "discarded" and folded.act is not None}
    answers = {event.body.position: event.body for event in (*played.all(ActCompleted), *played.all(ActFailed))}

    assert {act.position for act in _acts(played)} - settled == discarded
    for act, called in zip(_acts(played), played.world.calls, strict=True):
        if act.position not in settled:
            answer = answers[act.position]
            assert (act.effect, called.before) == (Effect.READ, called.after)
            assert isinstance(answer, ActFailed) or answer.fingerprint_before == answer.fingerprint_after


def what_was_committed_ran_or_was_never_sent(played: Played) -> None:
    """The history holds nothing that is only said to have been done."""
    ran = {act.position for act in _acts(played)}

    assert [
        folded.step.position
        for folded in steps_of(played)
        if folded.fate == "committed"
        and folded.objection is None
        and folded.act is None
        and folded.step.position not in ran
    ] == []


def no_later_prompt_speaks_of_discarded_steps(played: Played) -> None:
    """(d) Neither by position nor by any word that only they hold, except where an option says so."""
    kept = {
        word for folded in steps_of(played) if folded.fate != "discarded" for word in _words(str(folded.step.action))
    }
    for given in played.all(VerdictGiven):  # repair_sees and feedback show a reason, whatever stands in it
        kept |= _words(given.body.reason or "")
    gone_positions: set[str] = set()
    gone_words: set[str] = set()
    for event in played.events:
        match event.body:
            case StepsDiscarded() as body:
                gone = _discarded(played, body)
                gone_positions |= {folded.step.position for folded in gone if not body.repair}
                gone_words |= {word for folded in gone for word in _words(str(folded.step.action))} - kept
            case GenerateRequested(who=who, messages=messages, position=position) if who in _BY_MODELS:
                if played.options.get("repair_sees") == "draft":
                    messages = tuple(one for one in messages if _QUESTION not in one.content)
                assert not gone_positions & _positions(messages), f"{position} (event {event.seq})"
                assert not gone_words & _spoken(messages), f"{position} (event {event.seq})"
            case _:
                pass


def every_act_has_an_earlier_authority_on_stable_storage(played: Played) -> None:
    """(e) A write's verdict or repair, and its own request, were flushed before the world was reached."""
    for event, called in zip(played.all(ActRequested), played.world.calls, strict=True):
        act = event.body
        name, _, number = act.authority.partition(":")
        if act.effect != Effect.READ:
            assert called.flushed >= event.seq, f"{act.position} began before its request was flushed"
        match name:
            case "verdict":
                given = played.events[int(number)]
                assert isinstance(given.body, VerdictGiven)
                assert (given.seq < event.seq, given.body.outcome) == (True, "accept")
                assert act.position.startswith(f"s{given.body.segment}.")
            case "repair":
                made = played.events[int(number)]
                assert isinstance(made.body, RepairMade)
                assert (made.seq < event.seq, act.action in made.body.actions) == (True, True)
            case "read":
                assert act.effect == Effect.READ
            case "reply":
                assert act.effect == Effect.REPLY
            case "unreviewed":  # finish=free
                assert (act.effect, played.options.get("finish")) == (Effect.FINISH, "free")
            case "actor":
                assert "review" not in played.options
            case "speculative":
                assert act.effect == Effect.READ
            case _:
                raise AssertionError(f"{act.position}: nobody knows the authority {act.authority!r}")


def a_replay_gives_equal_events(played: Played) -> None:
    """(f) All of them, to the end."""
    replayed = asyncio.run(replay_episode(played.events))

    assert (replayed.result, replayed.first_difference) == ("same", None)
    assert replayed.compared == replayed.total


def no_budget_is_exceeded_by_more_than_one_call(played: Played) -> None:
    """Each is checked before every call of a model: what was used before the last one is under the limit.

    Branches that run side by side each count what they use themselves on top of what was used before them.
    """
    limits = {name: value for name, value in played.options.items() if name.startswith("max_") and value is not None}
    for event in played.all(GenerateRequested):
        if event.body.who not in _BY_MODELS:
            continue
        joined = max(other.seq for other in played.events[: event.seq] if other.lane == "" or not event.lane)
        before = [other for other in played.events[: event.seq] if other.seq <= joined or other.lane == event.lane]
        answered = [other.body for other in before if isinstance(other.body, GenerateCompleted)]
        asked = [other.body for other in before if isinstance(other.body, GenerateRequested)]
        used = {
            "max_steps": _steps_taken(before),
            "max_strong_calls": sum(body.who == "strong" for body in asked),
            "max_tokens": TOKENS * sum(body.role != "user" for body in answered),
        }
        assert all(used[name] < limits[name] for name in used if name in limits), f"event {event.seq}: {used}"


def an_episode_ends_once_and_last(played: Played) -> None:
    """With the outcome that the run returned; no step is left open, unless nobody knows whether it happened."""
    ends = played.all(EpisodeEnded)
    outcome = played.recorded.outcome

    assert [event.seq for event in ends] == [played.events[-1].seq]
    assert (ends[0].body.outcome, ends[0].body.reason) == (outcome.status, outcome.reason)
    assert {folded.step.position for folded in steps_of(played) if folded.fate == "open"} <= _unknown(played)


HOLDS: tuple[Callable[[Played], None], ...] = (
    the_environments_own_log_is_the_acts_in_order,
    what_changed_the_state_is_the_committed_writes_and_the_indeterminate_ones,
    what_ran_and_was_not_committed_is_the_discarded_reads,
    what_was_committed_ran_or_was_never_sent,
    no_later_prompt_speaks_of_discarded_steps,
    every_act_has_an_earlier_authority_on_stable_storage,
    a_replay_gives_equal_events,
    no_budget_is_exceeded_by_more_than_one_call,
    an_episode_ends_once_and_last,
)


def _acts(played: Played) -> list[ActRequested]:
    return [event.body for event in played.all(ActRequested)]


def _unknown(played: Played) -> set[str]:
    """Return where something was asked for of which nobody knows whether it happened: no answer, and no look-up."""
    answered = {event.body.position for event in played.all(ActCompleted)}
    return {act.position for act in _acts(played) if act.effect != Effect.READ} - answered


def steps_of(played: Played) -> Iterator[FoldedStep]:
    for segment in played.episode.segments:
        yield from segment.steps
        yield from segment.guesses
        if segment.repair is not None:
            yield from segment.repair.steps


def _discarded(played: Played, body: StepsDiscarded) -> list[FoldedStep]:
    segment = played.episode.segment(body.segment)
    steps = segment.repair.steps if body.repair and segment.repair is not None else segment.steps
    return (segment.guesses if body.reason == "speculation_lost" else steps)[body.start - 1 : body.end]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text))


def _spoken(messages: tuple[Message, ...]) -> set[str]:
    texts = [text for message in messages for text in (message.content, *(call.arguments for call in message.calls))]
    return _words("\n".join(texts))


def _positions(messages: tuple[Message, ...]) -> set[str]:
    """Return the positions that a prompt speaks of: inside texts, and as the ids of calls."""
    named = {name for message in messages for name in _POSITION.findall(message.content)}
    return named | {
        id_ for message in messages for id_ in (message.call_id, *(call.id for call in message.calls)) if id_
    }


def step_count(events: list[Event]) -> int:
    repaired = sum(len(event.body.actions) for event in events if isinstance(event.body, RepairMade))
    return repaired + sum(isinstance(event.body, StepDrafted) for event in events)


def _steps_taken(events: list[Event]) -> int:
    """Return the steps drafted or repaired so far, without what a repair dropped after its first error."""
    dropped = sum(e.body.end - e.body.start + 1 for e in events if isinstance(e.body, StepsDiscarded) and e.body.repair)
    return step_count(events) - dropped
