"""`resume`, as at two in the morning: recover, what is open, settle, go on; and every refusal with its code."""

import json

import pytest

from spectrace.core.events import ActRequested
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Finish
from spectrace.store.sql import open_store
from tests.desk import at
from tests.episodes import recorded_events
from tests.forks import recorded_in
from tests.lasting_desk import changes, connected, open_lasting
from tests.playbook import accept
from tests.resumes import cut
from tests.shop_log import script

WEAK = [at("look"), at("change"), at("change", "B"), Finish("done")]
LATER = [{"action": {"tool": "change", "arguments": {"id": "B"}}}, {"action": {"finish": "done"}}]
ACCEPTING = [{"verdict": "accept"}, {"verdict": "accept"}]
ASKED = 17
"""The first write is asked in this event."""


@pytest.fixture
def interrupted(line, tmp_path) -> str:
    """An episode that was killed in its first write, which was done; its desk is the file desk.db."""
    (tmp_path / "night.py").write_text(
        "from tests.lasting_desk import open_lasting\ndef desk():\n    return open_lasting('desk.db')\n"
    )
    events = recorded_in(open_lasting("other.db"), SpecAgent(), weak=WEAK, strong=[accept()] * 3)
    assert isinstance(events[ASKED].body, ActRequested)
    recorded_in(open_lasting("desk.db"), SpecAgent(), weak=WEAK[1:2], strong=[accept()])
    store = open_store("spectrace.db")
    name = cut(store, events, ASKED)
    store.close()
    assert changes("desk.db") == ["A"]
    return name


@pytest.fixture
def going(tmp_path) -> tuple[str, ...]:
    weak, strong = script(tmp_path / "w.json", LATER), script(tmp_path / "s.json", ACCEPTING)
    return "--env", "night:desk", "--weak", weak, "--strong", strong


def settle(line, episode, outcome="ok", evidence="A is changed"):
    return line(
        *("audit", "settle", f"{episode}:{ASKED}", "--outcome", outcome, "--evidence", evidence, "--by", "Ann Lee")
    )


def test_nothing_goes_past_an_open_write_and_the_message_names_the_command(line, interrupted, going):
    result = line("resume", interrupted, *going)

    assert (result.exit_code, result.stdout) == (3, "")
    assert f"`spectrace audit settle {interrupted}:{ASKED} --outcome ok|error|never" in " ".join(result.stderr.split())
    assert (changes("desk.db"), len(line.items("ls"))) == (["A"], 1)


def test_recover_and_settle_each_name_the_next_command(line, interrupted):
    recovered, settled = line("recover", interrupted), settle(line, interrupted)

    assert f"`spectrace audit settle {interrupted}:{ASKED} --outcome" in " ".join(recovered.stderr.split())
    assert f"`spectrace resume {interrupted} --env ENV` goes on from there." in settled.stderr


def test_what_was_settled_is_gone_on_with_and_every_action_is_listed_once(line, interrupted, going):
    settle(line, interrupted)
    (item,) = line.items("resume", interrupted, *going, "--by", "Ann Lee")
    child = item.pop("episode")

    assert item == {
        "parent": interrupted,
        "seq": ASKED,
        "taken_over": ASKED,
        "settled": [ASKED],
        "task": "t1",
        "protocol": "specagent",
        "status": "completed",
        "end_reason": "finished",
        "reward": "1.0",
        "steps": 4,
        "writes": 1,
        "rejections": 0,
    }
    assert changes("desk.db") == ["A", "B"]
    for query in ((), ("--tool", "change"), (child, interrupted)):
        listed = [one for one in line.items("audit", "actions", *query) if one["tool"] == "change"]
        assert [(one["episode"], one["arguments"], one["outcome"]) for one in listed] == [
            (interrupted, '{"id": "A"}', "ok"),
            (child, '{"id": "B"}', "ok"),
        ]
    assert [one["result"] for one in line.items("replay", child, interrupted)] == ["same", "same"]
    assert [one["result"] for one in line.items("verify", child)] == ["consistent"]
    assert line.items("audit", "violations", child) == []
    assert {one["episode"]: (one["writes"], one["parent"]) for one in line.items("ls")} == {
        interrupted: (0, None),
        child: (1, interrupted),
    }


def test_people_see_what_was_taken_over_and_where_it_stands(line, interrupted, going):
    settle(line, interrupted)
    told = line("resume", interrupted, *going)
    child = next(one["episode"] for one in line.items("ls") if one["parent"])
    shown, why, ledger = line("show", child), line("why", child), line("audit", "actions", child)

    assert f"{interrupted}:{ASKED}" in told.stdout
    assert f"`spectrace audit actions {interrupted} {child}` lists each action once" in " ".join(told.stderr.split())
    assert "weak was scripted:scripted; from here on it is scripted:w." in " ".join(told.stderr.split())
    assert "(taken over) A was changed 0 times" in shown.stdout
    assert "(by the word of Ann Lee) A is changed" in shown.stdout
    assert f"It goes on from {interrupted}:{ASKED}, interrupted there." in why.stdout
    assert f"{child} goes on from {interrupted}:{ASKED}" in " ".join(ledger.stderr.split())


def test_what_never_ran_runs_now_and_once(line, interrupted, going):
    with connected("desk.db") as database:
        database.execute("DELETE FROM changes")
    settle(line, interrupted, "never", "nothing is there")
    (item,) = line.items("resume", interrupted, *going)

    assert (item["status"], item["writes"], changes("desk.db")) == ("completed", 2, ["A", "B"])


def test_what_was_gone_on_with_is_not_gone_on_with_again(line, interrupted, going):
    settle(line, interrupted)
    line("resume", interrupted, *going)
    again = line("resume", interrupted, *going)

    assert (again.exit_code, "which has acted since" in " ".join(again.stderr.split())) == (2, True)
    assert changes("desk.db") == ["A", "B"]


def test_a_state_that_moved_is_refused_and_gone_on_with_on_request(line, interrupted, going):
    settle(line, interrupted, "never", "I saw nothing")
    refused = line("resume", interrupted, *going)
    went = line.items("resume", interrupted, *going, "--moved")

    assert (refused.exit_code, "the state moved: sha256:" in " ".join(refused.stderr.split())) == (125, True)
    assert "Ann Lee says that event 17 never ran: did it?" in " ".join(refused.stderr.split())
    assert went[0]["status"] == "completed"
    assert changes("desk.db") == ["A", "A", "B"]


def test_an_environment_without_attach_cannot_go_on_and_what_can_is_told(line, going, tmp_path):
    store = open_store("spectrace.db")
    name = cut(store, recorded_events(), 20)
    store.close()
    result = line("resume", name, "--env", "shop", *going[2:])

    assert (result.exit_code, f"`spectrace fork {name}:20`" in " ".join(result.stderr.split())) == (125, True)
    assert len(line.items("ls")) == 1


def test_a_running_episode_is_refused(line, going):
    events = recorded_events()
    store = open_store("spectrace.db")
    writer = store.create("running", events[0].body, events[0].at)
    result = line("resume", "running", *going)
    writer.close()
    store.close()

    assert (result.exit_code, "is being written by process" in result.stderr) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((":3",), "an episode is resumed from its end: name it without :3"),
        (("", "--by", "a\nb"), "--by takes a person's name"),
        (("", "--db", "nowhere.db"), "nowhere.db"),
    ],
)
def test_what_cannot_be_used_is_refused(line, interrupted, going, arguments, said):
    result = line("resume", f"{interrupted}{arguments[0]}", *going, *arguments[1:])

    assert (result.exit_code, said in " ".join(result.stderr.split())) == (2, True)


def test_an_episode_that_ended_is_refused_with_its_end(line, episode, going):
    result = line("resume", episode, *going)

    assert (result.exit_code, "was not interrupted: it ended completed" in " ".join(result.stderr.split())) == (2, True)


def test_models_come_from_the_command_line_and_never_from_the_record(line, interrupted):
    settle(line, interrupted)
    result = line("resume", interrupted, "--env", "night:desk")

    assert (result.exit_code, "needs a weak model" in " ".join(result.stderr.split())) == (2, True)


def test_a_log_that_is_not_whole_is_not_gone_on_with(line, interrupted, going):
    store = open_store("spectrace.db")
    with store.database.writing(durable=True) as connection:
        connection.exec_driver_sql("UPDATE episodes SET events = events + 1")
    store.close()
    result = line("resume", interrupted, *going)

    assert (result.exit_code, "is invalid, so nothing goes on from it" in " ".join(result.stderr.split())) == (2, True)


def test_an_episode_that_fails_on_going_on_exits_with_1(line, interrupted, going, tmp_path):
    settle(line, interrupted)
    short = script(tmp_path / "short.json", [])
    result = line("resume", interrupted, *going[:2], "--weak", short, *going[4:], "--json")

    assert (result.exit_code, json.loads(result.stdout)["items"][0]["status"]) == (1, "failed")


def test_an_action_that_a_child_does_again_is_grouped_with_its_parents(line, interrupted, tmp_path):
    again = [{"action": {"tool": "change", "arguments": {"id": "A"}}}, {"action": {"finish": "done"}}]
    weak, strong = script(tmp_path / "w.json", again), script(tmp_path / "s.json", ACCEPTING)
    settle(line, interrupted)
    (item,) = line.items("resume", interrupted, "--env", "night:desk", "--weak", weak, "--strong", strong)
    told = " ".join(line("audit", "actions").stdout.split())

    assert f'Same action, 2 executions: change {{"id": "A"}} at {interrupted}:{ASKED}, {item["episode"]}:' in told


def test_a_word_that_the_state_speaks_against_is_warned_of(line, interrupted, going):
    with connected("desk.db") as database:
        database.execute("DELETE FROM changes")
        database.commit()
    settle(line, interrupted)
    result = line("resume", interrupted, *going)

    assert result.exit_code == 0
    assert f":{ASKED} is settled as ok, and the state behind it is the one from before it" in result.stderr


def test_a_word_that_fits_the_state_is_not(line, interrupted, going):
    settle(line, interrupted)

    assert "is settled as ok" not in line("resume", interrupted, *going).stderr
