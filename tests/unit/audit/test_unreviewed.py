"""What ran without a verdict, each kind made by an episode in which it happens."""

from dataclasses import replace

import pytest

from spectrace.audit.unreviewed import unreviewed
from spectrace.core.baselines import WeakOnly
from spectrace.core.events import ActRequested, EffectObserved, EpisodeStarted, SegmentCommitted, Unknown
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Finish, Reply
from spectrace.interchange.openai_chat import import_file
from spectrace.store.memory import MemoryEventStore
from tests.chat_files import call, calls, result, written
from tests.desk import at
from tests.episodes import recorded_events
from tests.forks import desk_events, first, recorded_in
from tests.lasting_desk import open_lasting
from tests.playbook import accept
from tests.resumes import answers, cut, resume

CHANGE, LOOK, SEARCH, PEEK, DONE = at("change"), at("look"), at("search"), at("peek"), Finish("x")


def kinds(events) -> list[str]:
    return [one.kind for one in unreviewed(events)]


def altered(events, kind, **fields):
    """The episode as it would be, had an act said something else."""
    seq = first(events, kind)
    return [replace(one, body=replace(one.body, **fields)) if one.seq == seq else one for one in events]


def test_where_everything_was_judged_nothing_is_listed():
    assert kinds(recorded_events()) == []
    assert kinds(desk_events()) == []


def test_a_repair_is_the_strong_models_own():
    assert any(
        event.body.authority.startswith("repair:") for event in recorded_events() if event.type == "act.requested"
    )
    assert kinds(recorded_events()) == []


@pytest.mark.parametrize("authority", ["unreviewed", "speculative"])
def test_a_write_on_no_verdict_is_listed_with_its_tool_and_segment(authority):
    (one,) = unreviewed(altered(desk_events(), ActRequested, authority=authority))

    assert (one.kind, one.tool, one.segment) == ("write", "change", 1)
    assert one.detail == f"write change at s1.1, on the authority {authority}"


def test_a_declared_read_that_changed_the_state_is_listed_by_its_own_event():
    events = desk_events(weak=(PEEK, DONE), strong=(accept(), accept()))
    found = [one for one in unreviewed(events) if one.kind == "effect_observed"]

    assert [(one.seq, one.tool) for one in found] == [(first(events, EffectObserved), "peek")]


def test_a_read_that_asks_an_outside_party_is_listed_and_a_plain_one_is_not():
    assert kinds(desk_events(weak=(SEARCH, CHANGE, DONE))) == ["external_read"]
    assert kinds(desk_events(weak=(LOOK, CHANGE, DONE))) == []


def test_a_final_answer_that_was_free_is_listed():
    found = kinds(desk_events(SpecAgent(finish="free"), weak=(CHANGE, DONE), strong=(accept(),)))

    assert "finish" in found


def test_a_reply_that_reached_the_user_at_once_is_listed():
    events = altered(desk_events(), ActRequested, effect="reply", authority="reply", tool=None, action=Reply("Hello."))

    assert kinds(events) == ["reply"]


def test_an_unreviewed_segment_says_what_it_held():
    events = desk_events(SpecAgent(k=2), weak=(LOOK, at("look", "B"), CHANGE, DONE))
    (one,) = unreviewed(events)

    assert (one.seq, one.kind, one.segment) == (first(events, SegmentCommitted), "segment", 1)
    assert one.detail == "reads only: 2 reads (look); closed as k_reads"


def test_under_a_protocol_without_reviews_nothing_is_missing_and_it_is_a_kind_of_its_own():
    events = desk_events(WeakOnly(), weak=(PEEK, CHANGE, SEARCH, DONE), strong=())

    assert set(kinds(events)) == {"no_review"}
    assert [one.tool for one in unreviewed(events)] == ["peek", "change", "search", None]


def test_an_import_is_a_kind_of_its_own(tmp_path):
    store = MemoryEventStore()
    told = [{"role": "user", "content": "Go."}, calls(call("1", "charge")), result("1", "done")]
    (made,) = import_file(written(tmp_path / "chat.jsonl", *told), store)

    assert "import" in kinds(list(store.read(made.episode)))
    assert set(kinds(list(store.read(made.episode)))) == {"import"}


def test_what_a_resumed_episode_took_over_is_its_parents(tmp_path):
    path = tmp_path / "desk.db"
    events = recorded_in(
        open_lasting(path), SpecAgent(k=1), weak=(LOOK, LOOK, CHANGE, DONE), strong=(accept(), accept())
    )
    until, store = first(events, SegmentCommitted, 1), MemoryEventStore()
    parent = cut(store, events, until)
    path.unlink()
    recorded_in(open_lasting(path), SpecAgent(k=1), weak=(LOOK, LOOK, DONE), strong=(accept(),))
    child = resume(store, parent, open_lasting(path), answers(events, until))

    assert kinds(list(store.read(parent))) == kinds(events) == ["segment", "segment"]
    assert kinds(child) == []


def test_of_an_erased_act_the_header_is_enough():
    events = altered(desk_events(), ActRequested, authority="unreviewed")
    seq = first(events, ActRequested)
    gone = Unknown("act.requested", 1, "null", effect="write", authority="unreviewed", tool="change")
    (one,) = unreviewed([replace(event, body=gone) if event.seq == seq else event for event in events])

    assert (one.seq, one.kind, one.tool) == (seq, "write", "change")
    assert "erased" in one.detail


def test_a_start_that_is_erased_leaves_the_rest_to_be_listed():
    events = altered(desk_events(), ActRequested, authority="unreviewed")
    assert isinstance(events[0].body, EpisodeStarted)
    gone = replace(events[0], body=Unknown("episode.started", 2, "null"))

    assert kinds([gone, *events[1:]]) == ["write"]
