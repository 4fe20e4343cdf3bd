"""A record executed again: what the environment says may differ only as far as its caller lets it pass."""

import asyncio
import json
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spectrace.core.events import ActCompleted
from spectrace.core.observation_classes import PASSABLE, ObservationClass
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Call, Finish, Task
from spectrace.environments.functions import FunctionEnvironment, tool
from spectrace.environments.shop import open_shop
from spectrace.errors import UsageError
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.live import record
from spectrace.runs.reexecution import Passing, passing_of
from spectrace.runs.replay import replay_episode
from spectrace.store.memory import MemoryEventStore
from tests.episodes import recorded_events
from tests.forks import recorded_in
from tests.playbook import accept

TASK = Task("job", "Schedule a job.")
LENIENT = Passing(frozenset(PASSABLE))


class Desk:
    """Jobs under ids that are made up anew at every run; what was asked for is kept."""

    def __init__(self, made_up, said="queued", seen=None):
        self.made_up, self.said, self.asked = made_up, said, [] if seen is None else seen

    def open(self, fingerprint=None, volatile=()):
        @tool(effect="write")
        def schedule(at: str) -> str:
            """Schedule a job."""
            return f"Scheduled {self.made_up} for {at}"

        @tool(effect="read", volatile=volatile)
        def look(job: str) -> str:
            """Look at a job."""
            self.asked.append(job)
            return self.said if job == self.made_up else f"no job {job}"

        return FunctionEnvironment.from_functions(
            "desk",
            [schedule, look],
            "Schedule.",
            tasks=[TASK],
            reset=lambda: None,
            restore="reset",
            fingerprint=fingerprint,
        )


def played(said="queued", fingerprint=None):
    """Schedule a job, then look at it twice by the id that the desk said."""
    look = Call("look", json.dumps({"job": "f4af"}))
    weak = [Call("schedule", json.dumps({"at": "02:00"})), look, Finish("f4af is queued")]
    clients = {"weak": ScriptedModel(weak), "strong": ScriptedModel([accept(), accept()])}
    store, desk = MemoryEventStore(), Desk("f4af", said).open(fingerprint)
    return list(store.read(asyncio.run(record(TASK, desk, clients, SpecAgent(), store)).episode))


def again(events, desk, passing, **of_open):
    return asyncio.run(replay_episode(events, environment=desk.open(**of_open), passing=passing))


def answer(events, number):
    return [event for event in events if isinstance(event.body, ActCompleted)][number]


def passing(*names):
    return Passing(frozenset(map(ObservationClass, names)))


def test_strict_is_the_default_and_says_which_class_would_have_to_pass():
    events = played()
    result = again(events, Desk("91c0"), Passing())

    assert (result.result, result.first_difference.seq) == ("diverged", answer(events, 0).seq)
    assert "It is id-renamed (f4af is 91c0): --accept id-renamed lets that pass." in result.first_difference.cause
    assert (result.classes["exact"], result.classes["id-renamed"]) == (1, 1)


def test_a_renamed_id_reaches_the_environment_under_todays_name_in_every_later_action():
    desk = Desk("91c0")
    result = again(played(), desk, passing("id-renamed"))

    assert (result.result, desk.asked) == ("same", ["91c0"]), result.detail
    assert [(one.kind, one.notes) for one in result.inexact] == [("id-renamed", ("f4af is 91c0",))]
    assert "1 id-renamed" in result.detail


def test_an_id_that_is_another_one_again_is_no_renaming():
    result = again(played("f4af is queued"), Desk("91c0", "b7c1 is queued"), LENIENT)

    assert (result.result, result.classes["divergent"]) == ("diverged", 1)


def test_the_recorded_text_that_names_an_object_of_then_is_not_the_same_today():
    result = again(played("f4af is queued"), Desk("91c0", "f4af is queued"), LENIENT)

    assert result.result == "diverged"
    assert "f4af was 91c0 before, and f4af stands here as it was recorded" in result.first_difference.cause


def test_what_the_request_named_is_no_made_up_id():
    events = played()
    told = replace(events[0].body.task, request="Look at f4af.")
    known = [replace(events[0], body=replace(events[0].body, task=told)), *events[1:]]

    assert again(known, Desk("91c0"), LENIENT).classes["divergent"] == 1


@pytest.mark.parametrize(
    ("recorded", "now", "name"),
    [
        ('{"a": 1, "b": 2}', '{"b":2,"a":1}', "json-equal"),
        ("queued", "queued\n", "cosmetic"),
    ],
)
def test_each_class_passes_where_it_is_named_and_nowhere_else(recorded, now, name):
    events = played(recorded)
    others = [one.value for one in PASSABLE if one.value != name]

    assert again(events, Desk("f4af", now), passing(name)).result == "same"
    assert again(events, Desk("f4af", now), passing(*others)).result == "diverged"


@pytest.mark.parametrize(("recorded", "now"), [('{"n": 2}', '{"n": 2.0}'), ("queued", "failed")])
def test_nothing_lets_a_divergent_answer_pass(recorded, now):
    result = again(played(recorded), Desk("f4af", now), LENIENT)

    assert (result.result, result.classes["divergent"]) == ("diverged", 1)
    assert result.first_difference.field.startswith("/observation/content")


def test_a_place_that_the_caller_names_may_differ_and_is_said():
    events = played('{"at": 1, "state": "queued"}')
    desk = Desk("f4af", '{"at": 2, "state": "queued"}')
    named = again(events, desk, Passing(places=(("look", "/at"),)))

    assert (named.result, named.inexact[0].notes) == ("same", ("/at is volatile",))
    assert again(events, desk, LENIENT).result == "diverged"
    assert again(events, desk, Passing(places=(("schedule", "/at"),))).result == "diverged"


def test_a_place_that_the_tool_declares_passes_only_where_volatile_does():
    events = played('{"at": 1, "state": "queued"}')
    desk = Desk("f4af", '{"at": 2, "state": "queued"}')

    assert again(events, desk, passing("volatile"), volatile=("/at",)).result == "same"
    assert again(events, desk, passing("json-equal"), volatile=("/at",)).result == "diverged"


def test_a_fingerprint_must_be_the_same_whatever_passes():
    state = iter(["one", "two"])
    events = played(fingerprint=lambda: "one")
    result = again(events, Desk("f4af"), LENIENT, fingerprint=lambda: next(state, "two"))

    assert (result.result, "fingerprint" in result.first_difference.field) == ("diverged", True)


def test_an_error_is_never_an_answer_of_another_wording():
    events = played("queued\n")
    seen = answer(events, 1)
    body = replace(seen.body, outcome="error", observation=replace(seen.body.observation, error=True))
    failed = [replace(event, body=body) if event is seen else event for event in events]

    assert again(failed, Desk("f4af"), LENIENT).first_difference.seq == seen.seq


def test_the_shop_answers_exactly_and_every_class_is_counted():
    result = asyncio.run(replay_episode(recorded_events(), environment=open_shop(), passing=LENIENT))

    assert result.classes == {
        "exact": 6,
        "json-equal": 0,
        "cosmetic": 0,
        "id-renamed": 0,
        "volatile": 0,
        "divergent": 0,
    }
    assert (result.result, result.inexact) == ("same", ())


def test_classes_and_places_are_read_from_their_names():
    read = passing_of(["cosmetic", "id-renamed"], ["get:/at", "list:/*/age", "poll:"])

    assert read.classes == frozenset({ObservationClass.COSMETIC, ObservationClass.ID_RENAMED})
    assert read.places == (("get", "/at"), ("list", "/*/age"), ("poll", ""))


@pytest.mark.parametrize(
    ("accept", "volatile"),
    [(["exact"], []), (["divergent"], []), (["anything"], []), ([], ["/at"]), ([], ["get"]), ([], ["get:at"])],
)
def test_what_is_no_class_and_no_place_is_refused(accept, volatile):
    with pytest.raises(UsageError):
        passing_of(accept, volatile)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.uuids(version=4), st.uuids(version=4)), min_size=1, max_size=4, unique=True), st.data())
def test_any_ids_made_up_anew_are_found_again_wherever_they_are_asked_for(ids, data):
    then, now = ([str(pair[side]) for pair in ids] for side in (0, 1))
    assume(len({*then, *now}) == 2 * len(ids))
    looks = data.draw(st.lists(st.sampled_from(range(len(ids))), max_size=4))
    weak = [*(Call("make", "{}") for _ in ids), *(Call("look", json.dumps({"job": then[n]})) for n in looks)]
    recorded = recorded_in(jobs(then), SpecAgent(stall="ignore"), weak=[*weak, Finish("done")], strong=[accept()] * 9)
    heard = []
    result = asyncio.run(replay_episode(recorded, environment=jobs(now, heard), passing=passing("id-renamed")))

    assert (result.result, heard) == ("same", [now[n] for n in looks]), result.detail
    assert result.classes["id-renamed"] == len(ids) + len(looks)


def jobs(made_up, heard=None):
    """A desk that gives out these ids, one after another."""
    left = iter(made_up)

    @tool(effect="write")
    def make() -> str:
        """Make a job."""
        return json.dumps({"id": next(left), "state": "new"})

    @tool(effect="read")
    def look(job: str) -> str:
        """Look at a job."""
        if heard is not None:
            heard.append(job)
        return f"job {job} is new"

    return FunctionEnvironment.from_functions(
        "jobs", [make, look], "Make.", tasks=[TASK], reset=lambda: None, restore="reset"
    )
