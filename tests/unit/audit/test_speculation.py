"""Nothing may run on a guess: the published way of speculating is recognised, and what only looks like it is not."""

import json
from dataclasses import replace

import pytest
from tau2_files import AIRLINE, BYE, GREETING, HELLO, RETAIL, calls, result, says

from spectrace.audit.speculation import speculative_writes
from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    ActRequested,
    EffectObserved,
    EpisodeEnded,
    Event,
    GenerateCompleted,
    GenerateRequested,
    RepairMade,
    SegmentCommitted,
    SpeculationMatched,
    StepDrafted,
    StepsDiscarded,
    StepSpeculated,
    Unknown,
)
from spectrace.core.types import Call, Effect, Message, Observation, Outcome, Reply, ToolSpec, Usage
from spectrace.interchange.tau2 import import_file
from spectrace.interchange.tau2_events import transcribe
from spectrace.interchange.tau2_messages import read_messages
from spectrace.interchange.tau2_transcript import Scene
from spectrace.store.memory import MemoryEventStore
from tests.guesses import events as guessed_events
from tests.guesses import started

CANCEL, READ, ASK = Call("cancel_order", '{"id": "W2"}'), Call("find_order", '{"id": "W2"}'), Reply("Shall I cancel?")


class Log:
    """A recording made by hand, event by event; every method returns the event's number."""

    def __init__(self):
        self.bodies = [started()]

    def tell(self, body):
        self.bodies.append(body)
        return len(self.bodies) - 1

    def answers(self, role="actor"):
        who = "user" if role == "user" else "strong"
        request = self.tell(
            GenerateRequested(
                role=role, who=who, position="s1", messages=(), tools_digest=None, response_schema=None, parameters="{}"
            )
        )
        said = Message("assistant", "...")
        return self.tell(
            GenerateCompleted(
                request=request,
                role=role,
                message=said,
                reasoning=None,
                finish_reason="stop",
                model=None,
                usage=Usage(),
                latency_us=None,
                first_token_us=None,
                attempts=(),
                provider_id=None,
                server=None,
                source="live",
            )
        )

    def drafts(self, position, action, effect="write"):
        segment, _, number = position.removeprefix("s").partition(".")
        return self.tell(
            StepDrafted(
                effect=effect,
                tool=None,
                segment=int(segment),
                index=int(number),
                position=position,
                action=action,
                request=0,
            )
        )

    def guesses(self, index, action, effect):
        where = f"s1.g{index}"
        return self.tell(
            StepSpeculated(
                effect=effect,
                tool=None,
                segment=1,
                index=index,
                position=where,
                action=action,
                request=0,
                launched=True,
            )
        )

    def asks(self, position, action, effect="write", authority="actor", requestor="agent"):
        return self.tell(
            ActRequested(
                effect=effect,
                authority=authority,
                tool=getattr(action, "tool", None),
                position=position,
                action=action,
                requestor=requestor,
                idempotency_key="",
            )
        )

    def gets(self, request, after="a"):
        asked = self.bodies[request]
        return self.tell(
            ActCompleted(
                effect=asked.effect,
                authority=asked.authority,
                outcome="ok",
                tool=asked.tool,
                request=request,
                position=asked.position,
                observation=Observation("ok"),
                fingerprint_before="a",
                fingerprint_after=after,
                latency_us=None,
                source="live",
            )
        )

    def fails(self, request):
        asked = self.bodies[request]
        return self.tell(
            ActFailed(
                effect=asked.effect,
                authority=asked.authority,
                outcome="indeterminate",
                tool=asked.tool,
                request=request,
                position=asked.position,
                kind="timeout",
                error="no answer",
                latency_us=None,
                source="live",
            )
        )

    def commits(self, segment, start=1, end=1):
        return self.tell(SegmentCommitted(segment=segment, start=start, end=end, reviewed="not_applicable"))

    def discards(self, segment, start=1, end=1, reason="rejected", *, repair=False):
        return self.tell(StepsDiscarded(segment=segment, start=start, end=end, reason=reason, repair=repair))

    def found(self):
        return list(speculative_writes([Event("e", seq, "", seq, body) for seq, body in enumerate(self.bodies)]))


def step(log, position, action, effect="write", authority="actor"):
    """A step as every protocol of ours takes it: drafted, sent, answered, committed."""
    log.drafts(position, action, effect)
    asked = log.asks(position, action, effect, authority)
    log.gets(asked)
    log.commits(int(position[1 : position.index(".")]))
    return asked


def test_the_published_way_is_recognised_by_what_it_sends_before_the_user_has_spoken():
    log = Log()
    log.drafts("s1.1", ASK, "reply")
    reply = log.asks("s1.1", ASK, "reply")
    log.answers("actor")  # the strong model goes on from a guess of what the user will say
    read = log.asks("b1.1", READ, "read")
    log.gets(read)
    write = log.asks("b1.2", CANCEL)
    log.gets(write)
    log.answers("user")
    log.gets(reply)
    log.commits(1)
    log.answers("actor")

    assert log.found() == [(write, f"cancel_order at b1.2 was sent while the user had not answered event {reply}")]


@pytest.mark.parametrize(("action", "effect"), [(CANCEL, "write"), (ASK, "reply")])
def test_whatever_changes_or_is_heard_on_the_authority_speculative_breaks_it(action, effect):
    log = Log()
    sent = log.asks("s1.g1", action, effect, "speculative")

    assert log.found() == [(sent, f"{getattr(action, 'tool', 'reply')} at s1.g1 ran on the authority speculative")]


def test_a_guessed_read_that_changed_the_state_breaks_it():
    log = Log()
    log.guesses(1, READ, "read")
    sent = log.asks("s1.g1", READ, "read", "speculative")
    log.gets(sent, after="b")
    log.tell(
        EffectObserved(
            effect=Effect.WRITE,
            authority="speculative",
            tool="find_order",
            request=sent,
            fingerprint_before="a",
            fingerprint_after="b",
        )
    )

    assert log.found() == [
        (sent, "find_order at s1.g1 was declared a read, changed the state and ran on the authority speculative")
    ]


def test_a_write_that_ran_and_whose_step_was_thrown_away_breaks_it():
    log = Log()
    step(log, "s1.1", READ, "read")
    log.drafts("s2.1", CANCEL)
    sent = log.asks("s2.1", CANCEL)
    log.gets(sent)
    gone = log.discards(2, reason="speculation_lost")

    assert log.found() == [(sent, f"cancel_order at s2.1 ran, and event {gone} threw its step away")]


def test_a_repair_that_ran_and_was_thrown_away_breaks_it():
    log = Log()
    log.tell(
        RepairMade(
            tool="cancel_order",
            segment=1,
            verdict=None,
            kind="corrective",
            actions=(CANCEL,),
            fused_unusable=None,
            objections=(None,),
        )
    )
    sent = log.asks("s1.r1", CANCEL, authority="repair:1")
    log.gets(sent)
    gone = log.discards(1, reason="rejected", repair=True)

    assert log.found() == [(sent, f"cancel_order at s1.r1 ran, and event {gone} threw its step away")]


def test_a_write_that_ran_and_is_in_no_committed_step_breaks_it_once_the_models_go_on():
    log = Log()
    step(log, "s1.1", READ, "read")
    sent = log.asks("b1", CANCEL)
    log.gets(sent)
    before = log.found()
    log.answers("actor")

    assert (before, log.found()) == ([], [(sent, "cancel_order at b1 ran, and no committed step holds it")])


def test_a_write_that_was_guessed_and_whose_result_was_taken_breaks_it():
    log = Log()
    guess = log.guesses(1, CANCEL, "write")
    sent = log.asks("s1.g1", CANCEL)
    log.gets(sent)
    log.drafts("s1.1", CANCEL)
    log.tell(SpeculationMatched(segment=1, position="s1.1", guess=guess))
    log.commits(1)
    log.answers("actor")

    assert log.found() == [(sent, "cancel_order at s1.g1 ran, and no committed step holds it")]


def imported(*messages):
    scene = Scene("e1", 0, 7, (), {"find_order": Effect.READ}, "{}", "{}", Outcome("completed", "user_stop"), None)
    lost = set()
    script = transcribe(scene, read_messages(json.dumps(messages), lost), lost)
    first = replace(started(), tools=(ToolSpec("find_order", "Find it.", "{}", Effect.READ),))
    return [Event("e1", 0, "", 0, first), *(Event("e1", p.seq, p.lane, p.at, p.body) for p in script.pending)]


def test_an_imported_call_that_the_published_code_marks_as_run_ahead_breaks_it():
    ahead = calls(
        ("c1", "find_order (background task)", {"id": "W2"}), ("c2", "cancel_order (background task)", {"id": "W2"})
    )
    events = imported(GREETING, HELLO, says("Shall I?"), HELLO, ahead, result("c1", "{}"), result("c2", "ok"), BYE)
    (found,) = speculative_writes(events)

    assert events[found[0]].body.tool == "cancel_order (background task)"
    assert found[1].endswith("is marked as run ahead of the user")


def near_misses():
    def reads_that_are_thrown_away(log):
        log.drafts("s1.1", READ, "read")
        log.gets(log.asks("s1.1", READ, "read", "read"))
        log.discards(1)
        step(log, "s2.1", READ, "read")

    def reads_ahead_of_the_user(log):
        log.drafts("s1.1", ASK, "reply")
        reply = log.asks("s1.1", ASK, "reply")
        log.gets(log.asks("s1.g1", READ, "read", "speculative"))
        log.gets(reply)
        log.commits(1)

    def what_the_user_does_before_answering(log):
        log.drafts("s1.1", ASK, "reply")
        reply = log.asks("s1.1", ASK, "reply")
        log.gets(log.asks("s1.u1", CANCEL, requestor="user"))
        log.gets(reply)
        log.commits(1)
        log.answers()

    def an_indeterminate_write(log):
        step(log, "s1.1", READ, "read")
        log.drafts("s2.1", CANCEL)
        log.fails(log.asks("s2.1", CANCEL))
        log.discards(2, reason="failed")
        log.answers()

    def a_write_that_nobody_reviewed(log):
        step(log, "s1.1", CANCEL, authority="unreviewed")
        log.answers()

    def the_last_act_of_an_episode_that_breaks_off(log):
        step(log, "s1.1", READ, "read")
        log.answers()
        log.drafts("s2.1", CANCEL)
        log.gets(log.asks("s2.1", CANCEL))
        log.tell(EpisodeEnded(outcome="interrupted", reason="cancelled", answer=None, reward=None))

    def a_reply_that_was_never_answered_and_a_write_after_it(log):
        log.drafts("s1.1", ASK, "reply")
        log.fails(log.asks("s1.1", ASK, "reply"))
        log.commits(1)
        step(log, "s2.1", CANCEL)

    def a_recording_that_commits_nothing(log):
        log.gets(log.asks("s1.1", CANCEL, authority="unknown"))
        log.answers()

    def a_held_write_that_was_rejected(log):
        log.drafts("s1.1", CANCEL)
        log.discards(1)
        step(log, "s2.1", CANCEL, authority="verdict:3")

    def an_odd_range(log):
        step(log, "s1.1", READ, "read")
        log.discards(1, 2, 2**52)

    return [made for name, made in locals().items()]


@pytest.mark.parametrize("made", near_misses(), ids=lambda made: made.__name__)
def test_it_is_not_broken_by(made):
    log = Log()
    made(log)

    assert log.found() == []


@pytest.mark.parametrize("lost", [SegmentCommitted, ActCompleted])
@pytest.mark.parametrize("gone", ["event", "body"])
def test_what_cannot_be_read_accuses_nobody(lost, gone):
    log = Log()
    step(log, "s1.1", READ, "read")
    step(log, "s2.1", ASK, "reply")
    step(log, "s3.1", CANCEL)
    log.answers()
    at = [seq for seq, body in enumerate(log.bodies) if isinstance(body, lost)][-1 if lost is SegmentCommitted else 1]
    events = [Event("e", seq, "", seq, body) for seq, body in enumerate(log.bodies)]
    kept = [one for one in events if one.seq != at]
    if gone == "body":
        kept = [one if one.seq != at else replace(one, body=Unknown(lost.TYPE, 1, "null")) for one in events]

    assert list(speculative_writes(kept)) == []


def test_guesses_that_only_read_do_not_break_it():
    assert list(speculative_writes(guessed_events())) == []


@pytest.mark.parametrize("path", [AIRLINE, RETAIL], ids=lambda path: path.stem)
def test_no_real_recording_of_the_benchmark_breaks_it(path):
    store = MemoryEventStore()
    episodes = [one.episode for one in import_file(path, store)]

    assert episodes
    assert [found for episode in episodes for found in speculative_writes(list(store.read(episode)))] == []


def test_what_was_taken_over_is_judged_in_the_episode_in_which_it_was_done():
    log = Log()
    asked = log.asks("s1.g1", CANCEL, "write", "speculative")
    log.gets(asked)
    done = log.found()
    log.bodies = [replace(one, source="record") if isinstance(one, ActCompleted) else one for one in log.bodies]

    assert ([seq for seq, _ in done], log.found()) == ([asked], [])
