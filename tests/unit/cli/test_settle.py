from dataclasses import replace

import pytest

from spectrace.core.events import Parent
from spectrace.store.event_store import Pending
from spectrace.store.sql import open_store
from tests.episodes import recorded_events
from tests.resumes import cut

ASKED = 30
"""The accepted write of `tests.episodes` is asked in this event."""
EP = "0123abcd"
WORD = ("--outcome", "ok", "--evidence", "seen in the shop", "--by", "Ann Lee")


@pytest.fixture
def interrupted(line) -> str:
    """An episode whose writer went away while a write was asked and not answered."""
    events = recorded_events()
    store = open_store("spectrace.db")
    writer = store.create(EP, events[0].body, events[0].at)
    pending = [Pending(event.seq, event.lane, event.at, event.body) for event in events[1 : ASKED + 1]]
    writer.append(pending, durable=True)
    writer.close()
    store.close()
    return f"{EP}:{ASKED}"


def outcome(line) -> str:
    (action,) = [one for one in line.items("audit", "actions", EP) if one["seq"] == ASKED]
    return action["outcome"]


def test_an_item_says_what_was_added_behind_the_end_and_what_the_ledger_said_before(line, interrupted):
    assert line.items("audit", "settle", interrupted, *WORD) == [
        {
            "episode": EP,
            "seq": ASKED + 2,
            "request": ASKED,
            "tool": "cancel_order",
            "outcome": "ok",
            "before": "indeterminate",
            "by": "Ann Lee",
            "evidence": "seen in the shop",
        }
    ]


def test_people_read_who_said_what_and_what_it_took_the_place_of(line, interrupted):
    shown = line("audit", "settle", interrupted, *WORD).stdout

    assert shown == (
        f"{EP}:{ASKED} cancel_order: ok says Ann Lee (event {ASKED + 2}); the ledger said indeterminate.\n"
    )


def test_the_ledger_gives_the_word_and_the_episode_stays_interrupted_and_consistent(line, interrupted):
    line("audit", "settle", interrupted, *WORD)

    assert outcome(line) == "ok"
    assert line.items("audit", "actions", "--tool", "cancel_order", "--outcome", "indeterminate") == []
    assert [one["result"] for one in line.items("verify", EP)] == ["consistent"]
    assert [one["episode"] for one in line.items("ls", "--status", "interrupted")] == [EP]
    assert line.items("audit", "violations", EP) == []


def test_the_fact_names_the_person_and_is_shown_with_its_evidence(line, interrupted):
    line("audit", "settle", interrupted, *WORD)
    (fact,) = line.items("show", EP, "--type", "outcome.settled")

    assert (fact["header"]["authority"], fact["header"]["outcome"]) == ("person:Ann Lee", "ok")
    assert f"event {ASKED} settled as ok: seen in the shop" in line("show", EP).stdout


def test_recover_tells_who_settled_it_and_calls_it_indeterminate_no_more(line, interrupted):
    line("audit", "settle", interrupted, *WORD)
    (item,) = line.items("recover", EP)
    settled = {"seq": ASKED + 2, "request": ASKED, "outcome": "ok", "by": "Ann Lee", "evidence": "seen in the shop"}

    assert (item["indeterminate"], item["settled"], item["last_seq"]) == ([], [settled], ASKED)
    assert f"{interrupted} settled as ok by Ann Lee (event {ASKED + 2}): seen in the shop" in line("recover", EP).stdout


def test_a_settled_episode_replays_the_same_up_to_where_it_stopped(line, interrupted):
    line("audit", "settle", interrupted, *WORD)
    (item,) = line.items("replay", EP)

    assert (item["result"], item["compared"]) == ("same", ASKED)


def test_a_second_word_is_a_second_fact_and_the_last_one_counts(line, interrupted):
    line("audit", "settle", interrupted, *WORD)
    again = ("--outcome", "never", "--evidence", "it was another order", "--by", "Bo")
    (item,) = line.items("audit", "settle", interrupted, *again)

    assert (item["seq"], item["before"]) == (ASKED + 3, "ok")
    assert outcome(line) == "never"
    assert [one["by"] for one in line.items("recover", EP)[0]["settled"]] == ["Ann Lee", "Bo"]


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (f"{EP}:{ASKED - 1}", f"there is {EP}:{ASKED} (cancel_order)."),
        (f"{EP}:999", f"has the events 0 to {ASKED}, not 999."),
        (EP, "name the write as EP:SEQ"),
    ],
)
def test_anything_but_an_indeterminate_write_is_refused_and_nothing_is_added(line, interrupted, event, said):
    result = line("audit", "settle", event, *WORD)

    assert (result.exit_code, said in " ".join(result.stderr.split())) == (2, True)
    assert len(line.items("show", EP)) == ASKED + 1


def test_a_write_that_was_answered_is_refused(line, episode):
    done = next(one["seq"] for one in line.items("audit", "actions", "--outcome", "ok") if one["tool"])
    result = line("audit", "settle", f"{episode}:{done}", *WORD)

    assert result.exit_code == 2
    assert "this episode has none: there is nothing to settle." in " ".join(result.stderr.split())


@pytest.mark.parametrize("name", ["", " ", "Ann ", "a\nb", "\x1b[31mAnn", "x" * 101])
def test_a_name_that_could_be_taken_for_another_or_for_none_is_refused(line, interrupted, name):
    result = line("audit", "settle", interrupted, *WORD[:4], "--by", name)

    assert (result.exit_code, "--by takes a person's name" in " ".join(result.stderr.split())) == (2, True)
    assert len(line.items("show", EP)) == ASKED + 1


def test_hostile_evidence_is_recorded_as_it_stands_and_shown_as_text(line, interrupted):
    evidence = "[bold]\x1b[31m see\nthere"
    line("audit", "settle", interrupted, "--outcome", "ok", "--evidence", evidence, "--by", "Ann")

    assert line.items("show", f"{EP}:{ASKED + 2}")[0]["body"]["evidence"] == evidence
    assert "\x1b" not in line("recover", EP).stdout
    assert "[bold]" in line("recover", EP).stdout


def test_a_missing_database_is_refused_and_not_made(line, tmp_path):
    assert line("audit", "settle", f"{EP}:1", *WORD, "--db", "nowhere.db").exit_code == 2
    assert not (tmp_path / "nowhere.db").exists()


def test_a_word_that_a_child_went_on_without_is_kept_and_no_going_on_is_promised(line, interrupted):
    line("audit", "settle", interrupted, *WORD)
    events = recorded_events()
    store = open_store("spectrace.db")
    cut(
        store,
        [replace(events[0], body=replace(events[0].body, parent=Parent("resume", EP, ASKED))), *events[1:]],
        31,
        "c",
    )
    store.close()
    told = line("audit", "settle", interrupted, "--outcome", "never", "--evidence", "not there", "--by", "Bob")
    said = " ".join(told.stderr.split())

    assert (told.exit_code, outcome(line)) == (0, "never")
    assert "goes on from there" not in said
    assert f"nothing goes on from here: {EP} was gone on with in c, which has acted since" in said


def test_a_child_that_stands_on_the_former_word_is_named(line, interrupted):
    line("audit", "settle", interrupted, *WORD)
    events = recorded_events()
    store = open_store("spectrace.db")
    told = [
        replace(one, body=replace(one.body, source="edited" if one.seq > ASKED else "record"))
        if hasattr(one.body, "source")
        else one
        for one in events[1 : ASKED + 2]
    ]
    cut(
        store,
        [replace(events[0], body=replace(events[0].body, parent=Parent("resume", EP, ASKED))), *told],
        ASKED + 1,
        "c",
    )
    store.close()
    said = line("audit", "settle", interrupted, "--outcome", "never", "--evidence", "not there", "--by", "Bob").stderr

    assert f"c went on with the word on {interrupted} that it was ok (Ann Lee, event {ASKED + 2}); since then" in said
    assert "Nothing goes on from c." in said
    assert f"`spectrace resume {EP} --env ENV` goes on from there." in said
