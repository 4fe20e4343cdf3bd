"""The preflight runs nothing and names what has changed since the recording."""

import json
from dataclasses import replace

import pytest

from spectrace.core.digest import text_digest
from spectrace.core.events import EpisodeStarted, Origin
from spectrace.core.prompts import Prompts
from spectrace.core.types import Effect
from spectrace.environments.functions import FunctionEnvironment
from spectrace.environments.shop import open_shop
from spectrace.errors import EnvironmentFailed, Untestable
from spectrace.runs.preflight import check, refuse, tool_findings
from tests.episodes import recorded_events

TOOLS = open_shop().tools()
FIRST = TOOLS[0]
UNPREPARED = "its first state was not compared: nothing of it is run"
IN_ORDER = ", ".join(tool.name for tool in TOOLS)


class Untouchable(FunctionEnvironment):
    """The shop's tools; whatever would run something raises."""

    def __init__(self):
        self._open = open_shop()

    def tools(self):
        return self._open.tools()

    def instructions(self, task):
        return self._open.instructions(task)

    def declared(self):
        return self._open.declared()

    def __getattribute__(self, name):
        if name in {"prepare", "reset", "act", "evaluate", "fingerprint", "check", "resume"}:
            raise AssertionError(f"{name} was reached")
        return super().__getattribute__(name)


def started_with(**fields):
    events = recorded_events()
    return [replace(events[0], body=replace(events[0].body, **fields)), *events[1:]]


def kinds(found):
    return [(one.kind, one.field, one.recorded, one.found) for one in found]


def test_an_episode_of_today_has_nothing_that_changed():
    checked = check(recorded_events(), environment=open_shop(), prepare=True)

    assert (checked.result, checked.findings, checked.detail) == ("same", (), "nothing has changed")


def test_nothing_of_the_environment_is_run():
    assert check(recorded_events(), environment=Untouchable()).result == "same"


def test_an_environment_that_is_not_there_is_said_to_be_uncompared():
    assert "its environment was not compared" in check(recorded_events()).detail


@pytest.mark.parametrize(
    ("here", "found"),
    [
        (TOOLS[1:], ("tool_removed", f"/tools/{FIRST.name}", FIRST.name, "(nothing)")),
        ((replace(FIRST, name="seek"), *TOOLS[1:]), ("tool_renamed", f"/tools/{FIRST.name}", FIRST.name, "seek")),
        ((*TOOLS, replace(FIRST, name="seek")), ("tool_added", "/tools/seek", "(nothing)", "seek")),
        (
            (replace(FIRST, effect=Effect.WRITE), *TOOLS[1:]),
            ("effect", f"/tools/{FIRST.name}/effect", "'read'", "'write'"),
        ),
        (
            (replace(FIRST, description="Seek."), *TOOLS[1:]),
            ("description", f"/tools/{FIRST.name}/description", repr(FIRST.description), "'Seek.'"),
        ),
        ((*TOOLS[1:], FIRST), ("tool_order", "/tools", IN_ORDER, ", ".join(t.name for t in (*TOOLS[1:], FIRST)))),
    ],
    ids=["removed", "renamed", "added", "effect", "description", "order"],
)
def test_each_change_of_a_tool_is_named(here, found):
    assert kinds(tool_findings(TOOLS, here)) == [found]


def test_a_schema_with_one_other_member_is_named_to_the_member():
    schema = json.loads(FIRST.parameters)
    name = next(iter(schema["properties"]))
    schema["properties"][name]["maxLength"] = 3
    other = replace(FIRST, parameters=json.dumps(schema))

    assert kinds(tool_findings([FIRST], [other])) == [
        ("schema", f"/tools/{FIRST.name}/parameters/properties/{name}/maxLength", "(nothing)", "3")
    ]


SEEK = replace(FIRST, name="seek")
RETYPED = replace(FIRST, parameters=FIRST.parameters.replace('"required":["', '"required":["x","'))
FLIPPED = replace(FIRST, effect=Effect.WRITE)


@pytest.mark.parametrize(
    ("here", "kind"),
    [
        (TOOLS[1:], "tool_removed"),
        ((SEEK, *TOOLS[1:]), "tool_renamed"),
        ((RETYPED, *TOOLS[1:]), "schema"),
    ],
    ids=["removed", "renamed", "required"],
)
def test_a_tool_that_changed_cannot_be_tested_but_frozen(here, kind):
    shop = open_shop()
    shop.tools = lambda: here
    checked, frozen = (check(recorded_events(), environment=shop, frozen=one) for one in (False, True))

    assert (checked.result, {one.kind for one in checked.findings}) == ("untestable", {kind})
    assert "--frozen takes the recorded tools as they were" in checked.detail
    assert (frozen.result, {(one.kind, one.changed) for one in frozen.findings}) == ("same", {(kind, False)})
    assert refuse(recorded_events()[0].body, shop, frozen=True) != ()


def test_a_read_that_is_a_write_now_cannot_be_tested_even_frozen():
    shop = open_shop()
    shop.tools = lambda: (FLIPPED, *TOOLS[1:])
    for frozen in (False, True):
        checked = check(recorded_events(), environment=shop, frozen=frozen)

        assert (checked.result, [one.kind for one in checked.findings]) == ("untestable", ["effect"])
        assert (
            "what only reads on one side may write on the other" in checked.detail,
            "--frozen" in checked.detail,
        ) == (
            True,
            False,
        )
        with pytest.raises(Untestable, match="not to be executed again"):
            refuse(recorded_events()[0].body, shop, frozen=frozen)


def test_another_description_alone_is_a_note():
    checked = check(started_with(tools=(replace(FIRST, description="Old."), *TOOLS[1:])), environment=open_shop())

    assert (checked.result, checked.detail) == ("same", f"nothing has changed; 1 note; {UNPREPARED}")
    assert [(one.kind, one.changed) for one in checked.findings] == [("description", False)]


def test_a_tool_is_told_with_its_schemas_digests_then_and_now():
    other = replace(FIRST, parameters='{"type": "object", "properties": {}, "required": ["x"]}')
    was, now = text_digest(FIRST.parameters), text_digest(other.parameters)

    assert {one.digests for one in tool_findings([FIRST], [other])} == {(was, now)}
    assert [one.digests for one in tool_findings([FIRST], [])] == [(was, None)]
    assert [one.digests for one in tool_findings([], [FIRST])] == [(None, was)]


@pytest.mark.parametrize(
    "change",
    [{"name": "seek"}, {"effect": Effect.WRITE}, {"parameters": '{"type": "object"}'}],
    ids=["renamed", "effect", "schema"],
)
def test_a_tool_that_changed_refuses_re_execution_before_anything_runs(change):
    started = started_with(tools=(replace(FIRST, **change), *TOOLS[1:]))[0].body

    with pytest.raises(Untestable, match=r"the tools differ \(/tools/"):
        refuse(started, open_shop())


def test_a_tool_that_is_gone_refuses_re_execution():
    started = started_with(tools=(replace(FIRST, name="gone", parameters="{}"), *TOOLS))[0].body

    with pytest.raises(Untestable, match=r"/tools/gone: recorded gone, here \(nothing\)"):
        refuse(started, open_shop())


def test_another_description_is_told_and_refuses_nothing():
    started = started_with(tools=(replace(FIRST, description="Old."), *TOOLS[1:]))[0].body

    assert refuse(started, open_shop()) == (f"/tools/{FIRST.name}/description (description)",)


def test_other_data_of_the_environment_is_a_change():
    facts = recorded_events()[0].body.environment
    events = started_with(environment=replace(facts, fingerprint="sha256:0", version="0"))
    checked = check(events, environment=open_shop(), prepare=True)

    assert [(one.field, one.changed) for one in checked.findings] == [
        ("/environment/version", False),
        ("/environment/fingerprint", True),
    ]


def test_other_prompts_and_options_are_changes():
    checked = check(recorded_events(), prompts=replace(Prompts(), held="LATER"), options={"k": 2, "hold": "writes"})

    assert [(one.kind, one.field) for one in checked.findings] == [
        ("options", "/options/k"),
        ("prompts", "/prompts/held"),
    ]
    assert checked.result == "diverged"


def test_an_older_recording_is_noted_and_not_changed():
    started = recorded_events()[0].body
    options = {name: value for name, value in json.loads(started.options).items() if name != "feedback"}
    events = started_with(
        protocol_revision=1, options=json.dumps(options), versions=replace(started.versions, spectrace="0.0.9")
    )
    checked = check(events)

    assert [(one.kind, one.field, one.changed) for one in checked.findings] == [
        ("revision", "/protocol_revision", False),
        ("versions", "/versions/spectrace", False),
        ("options", "/options/feedback", False),
    ]
    assert checked.result == "same"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"protocol_revision": 99}, "recorded under protocol revision 99"),
        ({"protocol": "mystery"}, "no generator here"),
        ({"protocol": "imported"}, "it was imported"),
        ({"protocol": "reverify"}, "its parent episode is not in this database"),
        ({"options": '{"k": 0}'}, "options are not known here"),
    ],
)
def test_what_cannot_be_replayed_here_is_untestable_and_says_why(fields, words):
    checked = check(started_with(**fields))

    assert (checked.result, words in checked.detail) == ("untestable", True), checked.detail


def test_an_import_is_looked_at_for_what_its_re_execution_needs():
    origin = Origin("tau2", "f.json", "sha256:0", "1")
    fits = started_with(protocol="imported", origin=origin, tools=())
    unfit = started_with(protocol="imported", origin=replace(origin, unfit="another request"))

    assert check(fits, environment=open_shop(), prepare=True).result == "same"
    assert check(unfit, environment=open_shop(), prepare=True).detail == "task does not fit: another request"


def test_a_task_that_is_not_to_be_had_here_is_a_change():
    class Without(FunctionEnvironment):
        def __init__(self):
            pass

        def prepare(self, task):
            raise EnvironmentFailed("unavailable", "no such task")

    checked = check(recorded_events(), environment=Without(), prepare=True)

    assert [(one.field, one.recorded) for one in checked.findings] == [("/task/id", "cancel-own")]
    assert (checked.result, "no such task" in checked.findings[0].found) == ("diverged", True)


def test_a_record_without_its_start_or_with_a_hole_is_untestable():
    events = recorded_events()

    assert isinstance(events[0].body, EpisodeStarted)
    assert [check(log).result for log in (events[1:], [*events[:4], *events[5:]])] == ["untestable", "untestable"]


@pytest.mark.parametrize(("restore", "marked"), [("none", True), ("reset", False), ("reset", True)])
def test_another_restore_and_a_lost_fingerprint_are_told_without_running_anything(restore, marked):
    class Declaring(Untouchable):
        def declared(self):
            return replace(self._open.declared()[0], restore=restore), marked

    checked = check(recorded_events(), environment=Declaring())

    fields = [one.field for one in checked.findings if one.changed]
    expected = ["/environment/restore"] * (restore == "none") + ["/environment/fingerprint"] * (not marked)
    assert (fields, checked.result) == (expected, "diverged" if expected else "same")


def test_what_was_recorded_under_none_is_not_executed_because_its_environment_now_says_reset():
    then = replace(started_with()[0].body.environment, restore="none", fingerprint=None)

    with pytest.raises(Untestable, match=r"recorded under restore=none, and shop declares restore=reset now.* anew"):
        refuse(started_with(environment=then)[0].body, open_shop())
