"""Case 103: by name a tool reads, by its arguments it may write: a classifier of these overrides the name."""

import json
import re
from pathlib import Path

import pytest

from spectrace.core.deeds import deeds
from spectrace.core.events import ActionHeld, EpisodeStarted, StepDrafted
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Call, Effect, Finish
from spectrace.environments.effects import Overridden, Override
from spectrace.environments.functions import FunctionEnvironment, Task, tool
from tests.command_line import in_a_directory
from tests.forks import fork, recorded_in, replayed
from tests.playbook import accept
from tests.shop_log import script

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())["held_with_classifier"]
CALLS = [json.loads(line) for line in (CASE / "calls.jsonl").read_text().splitlines()]
END = {"action": {"finish": "done"}}
WRITES = re.compile(r"\b(insert|update|delete|create|drop|alter|pragma\s+\w+\s*=)", re.IGNORECASE)


def sql_effect(arguments: dict) -> str:
    """By the whole statement, not by its first word; what a sequence does is this desk's policy: it may."""
    return "write" if WRITES.search(arguments["q"]) else "read"


def http_effect(arguments: dict) -> str:
    """Flags may come in any order."""
    words = arguments["cmd"].split()
    return "read" if words.count("-X") == 0 or words[words.index("-X") + 1] == "GET" else "write"


def desk(sql: object = "read", http: object = "read", called: list | None = None) -> FunctionEnvironment:
    reached = [] if called is None else called

    @tool(effect=sql)
    def sql_read(q: str) -> str:
        """Query the database."""
        reached.append(q)
        return "1 row"

    @tool(effect=http)
    def http_call(cmd: str) -> str:
        """Call a service."""
        reached.append(cmd)
        return "200"

    http_call.__name__ = "http"
    tasks = (Task("t1", "Look after the loans."),)
    return FunctionEnvironment.from_functions("desk", (sql_read, http_call), "", tasks=tasks, restore="reset")


def played(environment):
    drafts = [Call(one["name"], json.dumps(one["arguments"])) for one in CALLS]
    return recorded_in(environment, SpecAgent(), weak=[*drafts, Finish("done")], strong=[accept()] * 6)


def held(events) -> list[int]:
    """The case's numbers of the calls that were held."""
    drafted = [event.body.position for event in events if isinstance(event.body, StepDrafted)]
    positions = [event.body.position for event in events if isinstance(event.body, ActionHeld) and event.body.tool]
    return [drafted.index(position) + 1 for position in positions]


def test_by_their_names_alone_all_of_them_are_reads():
    events = played(desk())

    assert held(events) == []
    assert {deed.effect_by for deed in deeds(events) if deed.tool} == {"declared"}


def test_with_a_classifier_those_that_write_are_held_and_the_ledger_says_which_rule_decided():
    events = played(desk(sql_effect, http_effect))

    assert held(events) == EXPECTED
    assert {deed.tool: deed.effect_by for deed in deeds(events) if deed.tool} == {
        "sql_read": "classifier:sql_effect",
        "http": "classifier:http_effect",
    }


def test_a_replay_takes_the_effects_from_the_record_and_reaches_no_classifier():
    asked = []

    def sql_watched(arguments: dict) -> str:
        asked.append(arguments)
        return sql_effect(arguments)

    events = played(desk(sql_watched, http_effect))
    before = len(asked)

    assert before == sum(one["name"] == "sql_read" for one in CALLS)
    assert replayed(events) == "same"
    assert len(asked) == before


def test_a_fork_keeps_the_effects_of_its_record_and_asks_about_what_is_new():
    events = played(desk(sql_effect, http_effect))
    last = [event.seq for event in events if isinstance(event.body, StepDrafted)][-1]
    child = fork(
        events,
        last - 1,
        desk(sql_effect, http_effect),
        weak=[Call("sql_read", '{"q": "DROP TABLE loans"}'), Finish("done")],
        strong=[accept(), accept(), accept()],
    )

    assert held(child)[: len(EXPECTED)] == EXPECTED
    assert replayed(child) == "same"


@pytest.mark.parametrize("answer", [None, "perhaps", Effect.REPLY, 1])
def test_what_a_classifier_cannot_say_is_a_write(answer):
    assert desk(lambda _: answer).classify(Call("sql_read", '{"q": "SELECT 1"}')) is Effect.WRITE


def test_where_it_raises_or_the_arguments_cannot_be_read_the_call_is_a_write():
    for arguments in ('{"q": 1}', "{}", "[]", "nothing", ""):
        assert desk(sql_effect).classify(Call("sql_read", arguments)) is Effect.WRITE
    assert desk(sql_effect).classify(Call("sql_read", '{"q": "SELECT 1"}')) is Effect.READ
    assert desk(sql_effect).classify(Call("elsewhere", "{}")) is Effect.WRITE


def test_an_operators_override_of_the_effect_is_above_the_classifier_and_one_of_the_rest_is_not():
    strict = played(Overridden(desk(sql_effect, http_effect), {"sql_read": Override(Effect.WRITE)}))
    outside = played(Overridden(desk(sql_effect, http_effect), {"sql_read": Override(external=True)}))

    assert held(strict) == [1, 2, 3, 4, 5]
    assert {deed.effect_by for deed in deeds(strict) if deed.tool == "sql_read"} == {"override"}
    assert held(outside) == EXPECTED


def test_the_name_of_the_classifier_is_recorded_with_the_tool():
    started = played(desk(sql_effect, http_effect))[0].body
    assert isinstance(started, EpisodeStarted)

    assert [one.effect_by for one in started.tools] == ["classifier:sql_effect", "classifier:http_effect"]


def test_the_project_may_overrule_a_declaration_in_its_settings(monkeypatch, tmp_path):
    line = in_a_directory(monkeypatch, tmp_path)
    Path("spectrace.toml").write_text('[effects.shop]\nget_order = "write"\n')
    weak = script(tmp_path / "w.json", [{"action": {"tool": "get_order", "arguments": {"order_id": "W200"}}}, END])
    strong = script(tmp_path / "s.json", [{"verdict": {"verdict": "accept"}}] * 2)
    given = ("--env", "shop", "--task", "cancel-own", "--weak", weak, "--strong", strong)
    line.items("run", *given)
    (read, _) = line.items("audit", "actions")

    assert (read["tool"], read["effect_declared"], read["effect_by"]) == ("get_order", "write", "override")
    assert read["authority"].startswith("verdict:")
