import asyncio
import json
from dataclasses import replace

import pytest

from spectrace.cli import going_on
from spectrace.core.baselines import WeakOnly
from spectrace.core.prompts import Prompts
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Completion, Effect, Message, Usage
from spectrace.cost.prices import read_prices
from spectrace.environments.shop import open_shop
from spectrace.errors import UsageError
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.live import Labels, record
from spectrace.settings import Settings
from spectrace.store import runs
from spectrace.store.asked import Grid, cells_asked
from spectrace.store.sql import open_store
from tests.episodes import DONE, FIND, READ
from tests.playbook import accept
from tests.shop_log import recorded, reverified

MODELS = {"weak": "scripted:w", "strong": "scripted:s"}


@pytest.fixture
def store(tmp_path):
    opened = open_store(str(tmp_path / "log.db"))
    yield opened
    opened.close()


ONE = (SpecAgent(),)


def spec(protocols=ONE, **given):
    named = {"env": "shop", "models": MODELS, "prompts": None, "seed": None, "settings": Settings()} | given
    return going_on.spec(protocols=protocols, **named)


ASKED = Grid(("cancel-own",), 1, ("specagent",))


def go_on(store, name, wanted, asked=ASKED, now=None):
    """Go on; `now` is how an episode of each task would begin, by the task's name."""
    return going_on.go_on(store, name, wanted, asked, (now or {}).get)


def first(store, episode):
    return next(iter(store.read(episode))).body


def begun(store, body, episode):
    """Begin an episode and leave it."""
    store.create(episode, body, 1).close()


def other(body, **changes):
    """The same beginning in an environment in which find_customer is a write."""
    tools = tuple(replace(one, effect=Effect.WRITE) if one.name == "find_customer" else one for one in body.tools)
    return replace(body, tools=tools, **changes)


def asked_before(store):
    return runs.get(store, "n").settings


def test_a_new_run_has_nothing_and_its_spec_is_stored(store):
    before = go_on(store, "n", spec())

    assert (before.results, before.micro_usd) == ({}, 0)
    assert json.loads(runs.get(store, "n").settings).items() >= json.loads(spec().to_json()).items()


def test_what_is_asked_for_is_kept_and_added_to(store):
    go_on(store, "n", spec())
    go_on(store, "n", spec(), Grid(("cancel-own",), 2, ("weak-only",)))

    assert cells_asked(runs.get(store, "n").settings) == {
        ("cancel-own", 0, "specagent"),
        ("cancel-own", 0, "weak-only"),
        ("cancel-own", 1, "weak-only"),
    }


def test_what_is_refused_is_not_kept_as_asked_for(store):
    go_on(store, "n", spec())
    before = runs.get(store, "n").settings
    with pytest.raises(UsageError):
        go_on(store, "n", spec(seed=1), Grid(("other",), 1, ("specagent",)))

    assert runs.get(store, "n").settings == before


def test_the_first_result_of_a_cell_stands_and_a_failure_of_the_infrastructure_is_none(store):
    labels = Labels(run="n")
    recorded(store, weak=[FIND], strong=[], labels=labels)  # its script runs out: model_weak_invalid
    result = recorded(store, labels=labels)
    recorded(store, labels=labels)
    failed = recorded(store, weak=[FIND], labels=Labels(run="n", trial=1))
    before = go_on(store, "n", spec())

    assert {key: one.episode for key, one in before.results.items()} == {("cancel-own", 0, "specagent"): result}
    assert failed not in before.results


def test_an_episode_of_the_same_data_or_of_another_task_is_admitted(store):
    body = first(store, recorded(store, labels=Labels(run="n")))
    before = go_on(store, "n", spec())

    before.admit(body)
    before.admit(other(body, task=replace(body.task, id="new"), task_digest="sha256:new"))


def test_an_episode_whose_environment_changed_under_way_is_refused(store):
    body = first(store, recorded(store, labels=Labels(run="n")))
    before = go_on(store, "n", spec())

    with pytest.raises(UsageError, match="of task 'cancel-own': the instructions"):
        before.admit(replace(body, instructions="Be bad."))


def test_an_environment_that_is_another_one_is_refused_before_anything_is_kept(store):
    go_on(store, "n", spec())
    body = first(store, recorded(store, labels=Labels(run="n")))
    kept = asked_before(store)
    with pytest.raises(UsageError) as refused:
        go_on(store, "n", spec(), Grid(("cancel-own",), 2, ("specagent",)), {"cancel-own": other(body)})

    assert str(refused.value) == (
        "run 'n' was begun with another environment of the same name. What differs, of task 'cancel-own': "
        "tool find_customer (effect read, now write). Go on with what it was begun with, or give another --name."
    )
    assert asked_before(store) == kept


def test_new_tasks_alone_are_held_against_a_task_that_is_there(store):
    body = first(store, recorded(store, labels=Labels(run="n")))

    with pytest.raises(UsageError, match=r"tool find_customer \(effect read, now write\)"):
        go_on(store, "n", spec(), Grid(("new",), 1, ("specagent",)), {"cancel-own": other(body)})


def test_tasks_that_differ_alike_are_named_together(store):
    bodies = {
        task: first(store, recorded(store, task=task, labels=Labels(run="n")))
        for task in ("cancel-own", "cancel-foreign")
    }
    now = {task: replace(body, instructions="Be bad.") for task, body in bodies.items()}

    with pytest.raises(UsageError, match="of tasks 'cancel-own', 'cancel-foreign': the instructions"):
        go_on(store, "n", spec(), Grid(tuple(now), 1, ("specagent",)), now)


def test_the_same_environment_goes_on(store):
    body = first(store, recorded(store, labels=Labels(run="n")))
    now = going_on.offered(open_shop, SpecAgent())

    assert now("cancel-own").environment == body.environment
    assert len(going_on.go_on(store, "n", spec(), ASKED, now).results) == 1
    assert now("nobody has it") is None


def test_a_run_whose_episodes_of_a_task_disagree_cannot_go_on_and_names_them(store):
    episode = recorded(store, labels=Labels(run="n"))
    begun(store, other(first(store, episode), trial=1), "zz")

    with pytest.raises(UsageError, match=r"run 'n' cannot go on: its episodes \w+ and \w+ of 'cancel-own' met differ"):
        go_on(store, "n", spec())


def test_a_run_that_cannot_be_finished_in_either_environment_is_told_which_episodes_are_apart(store):
    old = first(store, recorded(store, labels=Labels(run="n")))
    new = first(store, recorded(store, task="cancel-foreign"))
    begun(store, other(new, run="n"), "zz")
    now = {"cancel-own": old, "cancel-foreign": new}

    with pytest.raises(UsageError, match=r"Already its episodes \w+ and \w+ of '[a-z-]+' and '[a-z-]+' met different"):
        go_on(store, "n", spec(), Grid(tuple(now), 1, ("specagent",)), now)


def test_a_cell_that_runs_elsewhere_is_left_to_it(store):
    body = first(store, recorded(store, labels=Labels(run="n")))
    writer = store.create("elsewhere", replace(body, trial=1), 1)
    before = go_on(store, "n", spec())
    writer.close()

    assert before.results["cancel-own", 1, "specagent"].episode == "elsewhere"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"env": "tau2:mock"}, "another env shop, now tau2:mock"),
        ({"models": {**MODELS, "weak": "local:x"}}, "another weak model scripted:w, now local:x"),
        ({"prompts": Prompts(held="later")}, "another set of prompts"),
        ({"seed": 1}, "another seed None, now 1"),
        (
            {"protocols": (SpecAgent(k=4, fused=False),)},
            r"option fused of specagent \(true, now false\); another option k",
        ),
    ],
)
def test_another_spec_is_refused_with_what_differs(store, changes, words):
    go_on(store, "n", spec())

    with pytest.raises(UsageError, match=words):
        go_on(store, "n", spec(**changes))


@pytest.mark.parametrize("name", ["desk:env", "another.desk:open_it"])
def test_an_environment_of_ones_own_may_call_itself_what_it_likes(store, name):
    go_on(store, "n", spec(env=name))
    recorded(store, labels=Labels(run="n"))  # on one that calls itself shop

    assert len(go_on(store, "n", spec(env=name)).results) == 1


@pytest.mark.parametrize("given", ["tau2:mock", "desk:env"])
def test_a_run_without_a_spec_is_held_to_the_name_of_its_environment_if_it_is_ours(store, given):
    recorded(store, labels=Labels(run="n"))

    with pytest.raises(UsageError, match=f"another env shop, now {given}"):
        go_on(store, "n", spec(env=given))


def test_options_are_held_against_what_was_recorded_even_of_a_protocol_added_later(store):
    go_on(store, "n", spec())
    recorded(store, weak=[FIND, READ, DONE], protocol=WeakOnly(), labels=Labels(run="n"))

    with pytest.raises(UsageError, match="option max_steps of weak-only"):
        go_on(store, "n", spec((WeakOnly(max_steps=3),)))


@pytest.mark.parametrize(("cached", "micro_usd"), [(0, 2000), (None, 2000), (100, 1100)])
def test_what_was_spent_before_is_counted_as_its_purse_counted_it(store, cached, micro_usd):
    usage = Usage(input=100, cached=cached, output=10)
    prices = read_prices({"scripted": {"input": 10, "cached": 1, "output": 100, "since": "2026-01-01"}}, "test")
    weak = ScriptedModel([Completion(Message("assistant", '{"finish": "no"}'), usage=usage)])
    task, labels = open_shop().tasks()[0], Labels(run="n")
    asyncio.run(record(task, open_shop(), {"weak": weak}, WeakOnly(), store, labels=labels, prices=prices))

    assert go_on(store, "n", spec((WeakOnly(),))).micro_usd == micro_usd


def test_tasks_and_protocols_may_be_added(store):
    go_on(store, "n", spec())

    assert go_on(store, "n", spec((SpecAgent(), WeakOnly()))).results == {}


def test_a_server_may_move_and_a_model_may_not_change():
    def of(url, temperature):
        table = {"provider": "openai", "name": "x", "url": url, "parameters": {"temperature": temperature}}
        return spec(models={"weak": "w"}, settings=Settings(models={"w": table})).models

    assert of("http://a", 0) == of("http://b", 0) != of("http://a", 1)
    assert spec(models={"weak": "openai:x@http://a"}).models == spec(models={"weak": "openai:x@http://b"}).models


def test_the_name_of_a_re_verification_is_not_taken(store):
    episode = recorded(store)
    reverified(store, episode, "again", [accept()] * 3)

    with pytest.raises(UsageError, match="run 'again' is a reverify"):
        go_on(store, "again", spec())
