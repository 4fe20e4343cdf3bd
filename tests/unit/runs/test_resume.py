"""A resumed episode takes the record over and does nothing again; each action runs once over the whole chain."""

import json
from dataclasses import replace

import pytest

from spectrace.audit.settling import settle
from spectrace.core.deeds import deeds, own_deeds
from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    ActRequested,
    GenerateRequested,
    Parent,
    StateMoved,
)
from spectrace.core.fold import fold
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Finish
from spectrace.environments.shop import open_shop
from spectrace.errors import Conflict, EnvironmentFailed, ModelFailed, Unsettled, Untestable, UsageError
from spectrace.store.memory import MemoryEventStore
from tests.desk import at
from tests.episodes import DONE, recorded_events
from tests.forks import fork, recorded_in, replayed, sources
from tests.lasting_desk import changes, connected, open_lasting
from tests.playbook import accept
from tests.resumes import answers, cut, cuts, resume

WEAK = [at("look"), at("change"), at("change", "B"), Finish("done")]
STRONG = [accept(), accept(), accept()]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "desk.db"


@pytest.fixture
def events(file):
    """The episode as it goes when nobody interrupts it: two writes, both accepted."""
    return recorded_in(open_lasting(file), SpecAgent(), weak=WEAK, strong=STRONG)


@pytest.fixture
def store():
    return MemoryEventStore()


def as_it_was(file, events, last):
    """Bring the desk's file to where it stood when event `last` had been recorded, its answers and nothing more."""
    done = [one.body.request for one in events[: last + 1] if isinstance(one.body, ActCompleted)]
    ids = [json.loads(events[request].body.action.arguments)["id"] for request in done if wrote(events[request])]
    put(file, ids)


def put(file, ids):
    with connected(file) as database:
        database.execute("DELETE FROM changes")
        database.executemany("INSERT INTO changes (id) VALUES (?)", [(id_,) for id_ in ids])


def wrote(event):
    return isinstance(event.body, ActRequested) and event.body.tool == "change"


def in_mid_write(events, number=0):
    """Return the event of a write that was asked."""
    return [event.seq for event in events if wrote(event)][number]


def asked(events):
    return [event.body.messages for event in events if isinstance(event.body, GenerateRequested)]


def test_an_episode_cut_off_at_any_event_ends_as_if_it_had_not_been(events, file):
    for store, name, last in cuts(events):
        if isinstance(events[last].body, ActRequested) and events[last].body.effect != "read":
            continue  # the next tests
        as_it_was(file, events, last)
        child = resume(store, name, open_lasting(file), answers(events, last))

        assert changes(file) == ["A", "B"]
        assert (last, child[-1].body.reward, child[-1].body.answer) == (last, "1.0", "done")
        assert (asked(child), fold(child).history) == (asked(events), fold(events).history)
        assert replayed(child) == "same"


def test_the_child_names_where_it_goes_on_and_says_what_it_took_over(events, file, store):
    last = in_mid_write(events) - 1
    name = cut(store, events, last)
    put(file, [])
    child = resume(store, name, open_lasting(file), answers(events, last), by="Ann")

    assert child[0].body.parent == Parent("resume", name, last)
    assert child[0].body.operator == "Ann"
    assert sources(child) == ["record"] * 3 + ["live"] * 4
    assert [one.body.source for one in child if isinstance(one.body, ActCompleted)] == ["record", *["live"] * 3]


def test_a_write_without_outcome_is_not_passed_until_somebody_says_what_became_of_it(events, file, store):
    last = in_mid_write(events)
    name = cut(store, events, last)

    with pytest.raises(Unsettled, match=f"`spectrace audit settle {name}:{last} --outcome ok|error|never"):
        resume(store, name, open_lasting(file), {})


def test_a_write_that_ran_is_answered_with_the_persons_evidence_and_not_run(events, file, store):
    last = in_mid_write(events)
    name = cut(store, events, last)
    put(file, ["A"])
    settle(store, name, last, "ok", evidence="A is changed", by="Ann")
    child = resume(store, name, open_lasting(file), answers(events, last))
    told = next(one.body for one in child if isinstance(one.body, ActCompleted) and one.body.tool == "change")

    assert changes(file) == ["A", "B"]
    assert (told.observation.content, told.authority, told.source) == ("A is changed", "person:Ann", "edited")
    assert told.fingerprint_before != told.fingerprint_after
    assert (fold(child).history, replayed(child)) == (fold(events).history, "same")


def test_a_write_that_was_tried_and_failed_is_told_as_an_error(events, file, store):
    last = in_mid_write(events)
    name = cut(store, events, last)
    put(file, [])
    settle(store, name, last, "error", evidence="it was refused", by="Ann")
    scripts = answers(events, last)
    child = resume(store, name, open_lasting(file), scripts)
    told = next(one.body for one in child if isinstance(one.body, ActCompleted) and one.body.tool == "change")

    assert (told.observation.content, told.observation.error, told.outcome) == ("it was refused", True, "error")
    assert (changes(file), replayed(child)) == (["B"], "same")


def test_a_write_that_never_ran_is_asked_again_once_under_its_own_key(events, file, store):
    last = in_mid_write(events)
    name = cut(store, events, last)
    put(file, [])
    settle(store, name, last, "never", evidence="nothing is there", by="Ann")
    child = resume(store, name, open_lasting(file), answers(events, last))
    (again, other) = [one.body for one in child if wrote(one)]

    assert (again.position, again.idempotency_key) == ("s1.2", events[last].body.idempotency_key)
    assert other.idempotency_key == f"{child[0].episode}:s2.1"
    assert (changes(file), fold(child).history) == (["A", "B"], fold(events).history)


def test_of_several_words_the_last_one_counts(events, file, store):
    last = in_mid_write(events)
    name = cut(store, events, last)
    put(file, ["A"])
    settle(store, name, last, "never", evidence="nothing is there", by="Ann")
    settle(store, name, last, "ok", evidence="A is changed", by="Bo")
    child = resume(store, name, open_lasting(file), answers(events, last))

    assert "person:Bo" in {getattr(one.body, "authority", None) for one in child}
    assert changes(file) == ["A", "B"]


@pytest.mark.parametrize("outcome", ["ok", "never"])
def test_a_final_answer_without_outcome_is_settled_as_a_write_is(events, file, store, outcome):
    last = max(one.seq for one in events if isinstance(one.body, ActRequested))
    name = cut(store, events, last)
    settle(store, name, last, outcome, evidence="the user has read it", by="Ann")
    child = resume(store, name, open_lasting(file), answers(events, last))

    assert (child[-1].body.answer, child[-1].body.reward) == ("done", "1.0")
    assert replayed(child) == "same"


def test_a_write_that_timed_out_is_gone_on_with_once_it_is_settled(file, store):
    def broken(moment):
        if moment == "changed" and len(changes(file)) == 1:
            raise EnvironmentFailed("timeout", "no answer within 300 s")

    events = recorded_in(open_lasting(file, broken), SpecAgent(), weak=WEAK, strong=STRONG)
    name = cut(store, events, events[-1].seq)
    last = in_mid_write(events)
    assert (events[-1].body.outcome, events[-1].body.reason) == ("failed", "indeterminate")
    with pytest.raises(Unsettled):
        resume(store, name, open_lasting(file), {})

    settle(store, name, last, "ok", evidence="A is changed", by="Ann")
    left = {"weak": WEAK[2:], "strong": STRONG[1:]}
    child = resume(store, name, open_lasting(file), left)

    assert not [one for one in child if isinstance(one.body, ActFailed)]
    assert (changes(file), child[-1].body.reward, replayed(child)) == (["A", "B"], "1.0", "same")


def test_each_action_stands_once_in_the_ledger_of_the_chain(events, file, store):
    name = cut(store, events, in_mid_write(events) + 1)
    put(file, ["A"])
    child = resume(store, name, open_lasting(file), answers(events, in_mid_write(events)))
    both = [*own_deeds(store.read(name)), *own_deeds(child)]

    assert [(deed.tool, deed.episode) for deed in both if deed.tool == "change" and deed.outcome == "ok"] == [
        ("change", name),
        ("change", child[0].episode),
    ]
    assert [deed.taken_over for deed in deeds(child) if deed.tool == "change"] == [True, False]
    assert fold(child).totals.writes == 1


def test_a_resumed_episode_is_interrupted_and_resumed_again_and_keeps_one_deed_for_each_action(events, file, store):
    name = cut(store, events, 3)
    put(file, [])
    middle = resume(store, name, open_lasting(file), answers(events, 3))
    again = MemoryEventStore()
    cut(again, events, 3)
    last = in_mid_write(middle, 1)
    cut(again, middle, last)
    put(file, ["A"])
    settle(again, middle[0].episode, last, "never", evidence="not there", by="Ann")
    child = resume(again, middle[0].episode, open_lasting(file), answers(middle, last))
    chain = [own_deeds(again.read(one)) for one in (name, middle[0].episode, child[0].episode)]

    assert changes(file) == ["A", "B"]
    assert [[deed.arguments for deed in each if deed.outcome == "ok" and deed.tool == "change"] for each in chain] == [
        [],
        ['{"id": "A"}'],
        ['{"id": "B"}'],
    ]
    assert [one.body.idempotency_key for one in child if wrote(one)] == [
        one.body.idempotency_key for one in middle if wrote(one)
    ]
    assert (fold(child).history, replayed(child)) == (fold(events).history, "same")


def test_what_was_gone_on_with_in_a_child_that_acted_is_not_gone_on_with_again(events, file, store):
    name = cut(store, events, 3)
    put(file, [])
    child = resume(store, name, open_lasting(file), answers(events, 3))

    with pytest.raises(UsageError, match=f"was gone on with in {child[0].episode}, which has acted since"):
        resume(store, name, open_lasting(file), answers(events, 3))
    assert changes(file) == ["A", "B"]


def test_a_child_that_did_nothing_stands_in_nobodys_way(events, file, store):
    name = cut(store, events, 3)
    put(file, [])
    failed = resume(store, name, open_lasting(file), {"weak": [ModelFailed("unreachable", "gone")], "strong": []})
    child = resume(store, name, open_lasting(file), answers(events, 3))

    assert (failed[-1].body.outcome, child[-1].body.outcome) == ("failed", "completed")
    assert changes(file) == ["A", "B"]


def test_a_child_that_was_cut_off_before_it_took_anything_over_begins_nothing_anew(events, file, store):
    name = cut(store, events, 3)
    put(file, ["A"])
    middle = resume(store, name, open_lasting(file), answers(events, 3), moved=True)
    again = MemoryEventStore()
    bare = cut(again, middle, 0)

    with pytest.raises(UsageError, match=f"had taken over the record of {name}, and did nothing: resume {name}"):
        resume(again, bare, open_lasting(file), {})


def test_where_a_child_took_nothing_over_its_parent_goes_on(events, file):
    place = MemoryEventStore()
    name = cut(place, events, 3)
    put(file, [])
    child = resume(place, name, open_lasting(file), answers(events, 3))
    put(file, [])
    store = MemoryEventStore()
    cut(store, events, 3)
    cut(store, child, 0)
    went = resume(store, name, open_lasting(file), answers(events, 3))

    assert (went[-1].body.reward, changes(file)) == ("1.0", ["A", "B"])


def test_a_state_that_moved_is_refused_naming_both_and_gone_on_with_on_request(events, file, store):
    last = in_mid_write(events) - 1
    name = cut(store, events, last)
    put(file, ["B"])

    with pytest.raises(Untestable, match=r"the state moved: sha256:\w{12} at event \d+ of .*, sha256:\w{12} now"):
        resume(store, name, open_lasting(file), answers(events, last))
    child = resume(store, name, open_lasting(file), answers(events, last), moved=True)

    assert [one.body.position for one in child if isinstance(one.body, StateMoved)] == ["s1.2"]
    assert (changes(file), replayed(child)) == (["B", "A", "B"], "same")


def test_a_person_who_says_never_is_contradicted_by_a_state_that_moved(events, file, store):
    last = in_mid_write(events)
    name = cut(store, events, last)
    put(file, ["A"])
    settle(store, name, last, "never", evidence="I think not", by="Ann")

    with pytest.raises(Untestable, match=f"Ann says that event {last} never ran: did it?"):
        resume(store, name, open_lasting(file), answers(events, last))
    assert changes(file) == ["A"]


@pytest.mark.parametrize("restore", ["none", "reset"])
def test_an_environment_whose_state_died_with_its_process_is_not_reached_and_told_what_to_do(restore):
    reached = []
    shop = open_shop()
    shop.prepare, shop.reset = reached.append, reached.append
    events = recorded_events()
    started = replace(events[0].body, environment=replace(events[0].body.environment, restore=restore))
    events = [replace(events[0], body=started), *events[1:]]
    store = MemoryEventStore()
    name = cut(store, events, 20)
    todo = f"`spectrace fork {name}:20`" if restore == "reset" else "run the task anew"

    with pytest.raises(Untestable, match=f"cannot be attached to .*{todo}"):
        resume(store, name, shop, {"weak": [], "strong": []})
    assert reached == []


def test_what_the_message_names_is_a_fork_that_goes_on(store):
    events = recorded_events()
    child = fork(events[:21], 20, weak=answers(events, 20)["weak"], strong=answers(events, 20)["strong"])

    assert child[-1].body.reward == "1.0"


def test_an_episode_that_lacks_nothing_but_its_end_needs_no_environment(store):
    events = recorded_events()
    name = cut(store, events, events[-1].seq - 1)
    child = resume(store, name, open_shop(), {"weak": [], "strong": []})

    assert (child[-1].body.reward, child[-1].body.answer) == ("1.0", DONE.text)
    assert (len(child), replayed(child)) == (len(events), "same")


def test_before_the_environment_began_any_environment_will_do(store):
    events = recorded_events()
    name = cut(store, events, 1)
    child = resume(store, name, open_shop(), answers(events))

    assert [one.type for one in child] == [one.type for one in events]


def test_an_episode_that_went_to_its_end_is_refused(events, file, store):
    name = cut(store, events, events[-1].seq)

    with pytest.raises(UsageError, match=r"was not interrupted: it ended completed \(finished\)"):
        resume(store, name, open_lasting(file), {})


def test_somebody_who_writes_the_episode_meanwhile_is_a_conflict(events, file, store):
    name = cut(store, events, 3)
    store.reopen(name)
    put(file, [])

    with pytest.raises(Conflict):
        resume(store, name, open_lasting(file), answers(events, 3))


def test_other_instructions_are_refused_before_anything_is_attached_to(events, file, store):
    name = cut(store, events, 3)
    desk = open_lasting(file)
    desk.instructions = lambda task: "Be careless."

    with pytest.raises(Untestable, match="the environment's instructions are others"):
        resume(store, name, desk, answers(events, 3))


def test_an_environment_that_is_gone_says_so_and_nothing_is_recorded(events, file, store):
    name = cut(store, events, 3)
    file.unlink()

    with pytest.raises(EnvironmentFailed, match=r"the desk's file .* is not there"):
        resume(store, name, open_lasting(file), answers(events, 3))
    assert list(store._logs) == [name]


def test_the_purse_of_a_resumed_episode_counts_what_the_record_spent(file, store):
    events = recorded_in(open_lasting(file), SpecAgent(max_wall_s=10_000), weak=WEAK, strong=STRONG)
    late = [replace(one, at=one.at + 20_000_000_000 * (one.seq > 2)) for one in events]
    name = cut(store, late, 5)
    put(file, [])
    child = resume(store, name, open_lasting(file), answers(events, 5))

    assert (child[-1].body.outcome, child[-1].body.reason) == ("truncated", "max_wall_s")


def test_nothing_is_committed_before_something_live_follows(events, file, store):
    """A child that is killed while it tells the record must not end with a write that it never asked for."""
    last = in_mid_write(events) + 1
    name = cut(store, events, last)
    put(file, ["A"])
    lengths = []

    def watch(episode, seq, body):
        lengths.append(len(store._logs[episode].rows))

    resume(store, name, open_lasting(file), answers(events, last), watch=watch)
    assert set(lengths[: last + 1]) == {1}
    assert lengths[-1] > last
