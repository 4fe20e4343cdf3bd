"""What is not known, each kind made by an episode that has exactly it."""

from dataclasses import replace

import pytest

from spectrace.audit.settling import settle
from spectrace.audit.unknowns import KINDS, of_row, unknowns
from spectrace.core.baselines import WeakOnly
from spectrace.core.events import ActCompleted, ActRequested, EpisodeEnded, StepDrafted, Unknown, VerdictGiven
from spectrace.core.types import Call, Finish, Observation
from spectrace.environments.functions import FunctionEnvironment, Task, tool
from spectrace.interchange.openai_chat import import_file
from spectrace.store.memory import MemoryEventStore
from tests.chat_files import call, calls, result, written
from tests.episodes import recorded_events
from tests.forks import desk_events, first, recorded_in
from tests.resumes import cut

PLACEHOLDER = "REDACTED-email-3f9a12c0b4d1"


def kinds(events) -> list[str]:
    return [one.kind for one in unknowns(events)]


def altered(events, kind, number=0, **fields):
    seq = first(events, kind, number)
    return [replace(one, body=replace(one.body, **fields)) if one.seq == seq else one for one in events]


def test_of_a_whole_episode_nothing_is_unknown():
    assert kinds(recorded_events()) == []
    assert kinds(desk_events()) == []


def test_a_write_without_an_answer_is_indeterminate_and_its_episode_interrupted():
    events = desk_events()
    left = events[: first(events, ActRequested) + 1]
    found = list(unknowns(left))

    assert [(one.kind, one.seq, one.tool) for one in found] == [
        ("indeterminate", left[-1].seq, "change"),
        ("interrupted", left[-1].seq, None),
    ]


def test_while_it_is_being_written_both_are_listed_as_what_may_come_yet():
    events = desk_events()
    left = events[: first(events, ActRequested) + 1]
    found = list(unknowns(left, running=True))

    assert [(one.kind, one.seq, one.tool) for one in found] == [
        ("indeterminate", left[-1].seq, "change"),
        ("running", left[-1].seq, None),
    ]
    assert found[0].detail == "change: running: not answered yet"
    assert found[1].detail.startswith("no end is recorded; its last event is of 20")


def test_a_write_that_a_person_settled_is_listed_with_the_word():
    events, store = desk_events(), MemoryEventStore()
    asked = first(events, ActRequested)
    episode = cut(store, events, asked)
    settle(store, episode, asked, "ok", evidence="seen there", by="Ann")
    found = list(unknowns(list(store.read(episode))))

    assert [one.kind for one in found] == ["indeterminate", "interrupted"]
    assert found[0].detail == f"change: no answer; settled as ok by Ann (event {asked + 2}): seen there"


def test_erased_events_are_one_item_that_names_them():
    events = desk_events()
    gone = Unknown("step.drafted", 1, "null", effect="write", tool="change")
    seq = first(events, StepDrafted)
    found = list(unknowns([replace(one, body=gone) if one.seq == seq else one for one in events]))

    assert [(one.kind, one.seq, one.detail) for one in found] == [("erased", seq, f"events {seq}")]


def test_a_placeholder_in_what_a_write_was_sent_or_answered_is_redacted():
    action = Call("change", f'{{"id": "{PLACEHOLDER}"}}')
    events = altered(desk_events(), ActRequested, action=action)
    events = altered(events, StepDrafted, action=action)
    events = altered(events, ActCompleted, observation=Observation(f"sent to {PLACEHOLDER}"))
    found = [one for one in unknowns(events) if one.kind == "redacted"]

    assert [one.detail.split(":")[1].split(" hold")[0].strip() for one in found] == ["its arguments", "its answer"]
    assert PLACEHOLDER in found[0].detail


@tool
def charge(cents: int) -> str:
    """Charge a fee; nobody says what this does."""
    return f"charged {cents}"


def charged(*declared):
    desk = FunctionEnvironment.from_functions("till", declared or (charge,), "", tasks=(Task("t1", "Charge."),))
    return recorded_in(desk, WeakOnly(), weak=[Call("charge", '{"cents": 1}'), Finish("done")])


def test_a_tool_whose_effect_nobody_declared_is_one_item_and_so_is_an_environment_without_fingerprint():
    found = list(unknowns(charged()))

    assert [(one.kind, one.tool) for one in found] == [("undeclared_effect", "charge"), ("no_fingerprint", None)]
    assert found[0].detail == "charge: nobody declared its effect; drafted 1 times, sent 1 times"


def test_a_declared_write_without_fingerprint_is_only_the_second():
    @tool(effect="write")
    def charge(cents: int) -> str:
        """Charge a fee."""
        return f"charged {cents}"

    assert kinds(charged(charge)) == ["no_fingerprint"]


def test_an_import_says_from_which_file(tmp_path):
    store = MemoryEventStore()
    told = [{"role": "user", "content": "Go."}, calls(call("1", "charge")), result("1", "done")]
    (made,) = import_file(written(tmp_path / "chat.jsonl", *told), store)
    (one,) = [one for one in unknowns(list(store.read(made.episode))) if one.kind == "imported"]

    assert (one.seq, "chat.jsonl" in one.detail) == (0, True)


def test_an_unusable_verdict_is_listed_with_its_cause():
    events = altered(desk_events(), VerdictGiven, outcome="unusable", cause="no JSON")
    (one,) = unknowns(events)

    assert (one.kind, one.seq, one.detail) == (
        "unusable",
        first(events, VerdictGiven),
        "the verdict on segment 1: no JSON",
    )


def test_an_event_of_a_type_that_is_not_known_is_listed_and_the_rest_is_told():
    events = desk_events()
    foreign = replace(events[1], body=Unknown("weather.changed", 1, "{}"))

    assert kinds([events[0], foreign, *events[2:]]) == ["unknown_event"]


def test_a_newer_version_of_a_known_type_is_listed_and_no_account_is_made():
    events = desk_events()
    seq = first(events, ActCompleted)
    newer = Unknown("act.completed", 99, "{}")
    found = kinds([replace(one, body=newer) if one.seq == seq else one for one in events])

    assert found == ["unknown_event"]


def test_a_clock_that_goes_backwards_is_one_item_with_the_longest_step():
    events = desk_events()
    back = [replace(one, at=one.at - 5_000_000) if one.seq in {3, 6} else one for one in events]
    (one,) = unknowns(back)

    assert (one.kind, one.seq) == ("clock_skew", 3)
    assert one.detail.startswith("2 times the clock went back, by 4.99") or "5.00" in one.detail


@pytest.mark.parametrize(
    ("times", "seq", "said"),
    [((10, 5, 99), 3, "it ended"), ((100, None, 99), 0, "is still to come"), ((5, 9, 99), None, "")],
)
def test_a_row_whose_times_cannot_be_is_clock_skew(times, seq, said):
    started, ended, now = times
    found = list(of_row("ep", started, ended, 4, now))

    assert [(one.kind, one.seq) for one in found] == ([] if seq is None else [("clock_skew", seq)])
    assert all(said in one.detail for one in found)


def test_an_end_as_interrupted_is_listed_at_that_end():
    events = altered(desk_events(), EpisodeEnded, outcome="interrupted", reason="killed")
    (one,) = unknowns(events)

    assert (one.kind, one.seq, one.detail) == ("interrupted", events[-1].seq, "ended as interrupted: killed")


def test_every_kind_has_its_sentence():
    assert all(sentence.endswith(".") for sentence in KINDS.values())
