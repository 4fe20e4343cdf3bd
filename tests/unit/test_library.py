"""The library's verbs, as a user calls them."""

import asyncio

import pytest

import spectrace
from spectrace.audit.queries import Reader
from spectrace.core.deeds import deeds
from spectrace.core.types import Completion, Finish, Message, Usage
from spectrace.cost.prices import read_prices
from tests.desk import at
from tests.episodes import DONE
from tests.forks import recorded_in
from tests.lasting_desk import changes, connected, open_lasting
from tests.playbook import accept
from tests.resumes import cut
from tests.shop_log import recorded
from tests.verifying import scoring


def run_shop(store, **how):
    weak = spectrace.ScriptedModel(lambda _: '{"finish": "sorry"}')
    strong = spectrace.ScriptedModel(lambda _: accept())
    return asyncio.run(spectrace.run("cancel-foreign", "shop", weak, strong, store=store, **how))


def test_a_run_is_recorded_replayed_and_re_verified(tmp_path):
    store = spectrace.open_store(f"sqlite:///{tmp_path / 'runs.db'}")
    recorded = run_shop(store)
    again = asyncio.run(spectrace.replay(recorded.episode[:6], store, env="shop"))
    rows = asyncio.run(spectrace.reverify(recorded.episode, spectrace.ScriptedModel([accept()]), store, name="second"))
    store.close()

    assert (recorded.outcome.reward, again.result) == ("1.0", "same")
    assert [(row.run, row.agree) for row in rows] == [("second", True)]


def cautious(request):
    return spectrace.Verdict(request.drafted, 0, category="unsafe", reason="better not")


class Lenient:
    async def __call__(self, request):
        return True


@pytest.mark.parametrize(
    ("verifier", "name", "decision"),
    [(cautious, f"{__name__}:cautious", "reject"), (Lenient(), f"{__name__}:Lenient", "accept")],
)
def test_a_function_of_ones_own_may_judge_again(tmp_path, verifier, name, decision):
    store = spectrace.open_store(f"sqlite:///{tmp_path / 'runs.db'}")
    recorded = run_shop(store)
    (row,) = asyncio.run(spectrace.reverify(recorded.episode, verifier, store, name="second"))
    (model,) = next(iter(store.read(row.child))).body.models
    store.close()

    assert (row.new.decision, model.provider, model.name) == (decision, "function", name)


@pytest.fixture
def store(tmp_path):
    opened = spectrace.open_store(f"sqlite:///{tmp_path / 'runs.db'}")
    yield opened
    opened.close()


def test_several_episodes_are_judged_several_times_and_scored(store):
    episodes = [run_shop(store).episode for _ in range(2)]
    how = {"repeat": 2, "concurrency": 3, "verdict": "scored", "threshold": "0.8"}
    rows = asyncio.run(spectrace.reverify([one[:8] for one in episodes], scoring(lambda _: 1.0), store, **how))

    assert [(row.episode, row.repeat) for row in rows] == [(one, repeat) for one in episodes for repeat in (1, 2)]
    assert {(row.new.decision, row.new.probabilities) for row in rows} == {("reject", '["0.731059"]')}


def test_a_re_verification_costs_no_more_than_is_said(store):
    episodes = [run_shop(store).episode for _ in range(3)]
    dear = Completion(Message("assistant", accept()), usage=Usage(600_000, 0, 0))
    prices = read_prices({"scripted:scripted": {"input": 1, "cached": 1, "output": 1, "since": "2026-01-01"}}, "test")
    rows = asyncio.run(
        spectrace.reverify(episodes, spectrace.ScriptedModel(lambda _: dear), store, max_cost_usd="1", prices=prices)
    )

    assert [row.episode for row in rows] == episodes[:2]


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"repeat": 0}, "repeat must be a whole number of at least 1, found 0"),
        ({"concurrency": 1.5}, r"concurrency must be a whole number of at least 1, found 1\.5"),
        ({"verdict": "sung"}, "option verdict: expected one of decoded, scored, found 'sung'"),
        ({"verdict": "scored", "threshold": "2"}, "option threshold must be a number of at least 0 and at most 1"),
        ({"max_cost_usd": "much"}, "option max_cost_usd must be a number"),
        ({"verdict": "scored"}, "the verifier cautious gives none: it decides by itself"),
    ],
)
def test_what_a_re_verification_cannot_do_is_refused_before_anything_is_recorded(store, how, why):
    episode = run_shop(store).episode
    with pytest.raises(spectrace.errors.UsageError, match=why):
        asyncio.run(spectrace.reverify(episode, cautious, store, name="second", **how))

    assert [one.run for one in Reader(store).episodes()] == [None]


def test_labels_may_judge_again(tmp_path):
    store = spectrace.open_store(f"sqlite:///{tmp_path / 'runs.db'}")
    recorded = run_shop(store)
    (tmp_path / "gold.csv").write_text(f"episode,segment,accepted\n{recorded.episode[:8]},1,0\n")
    (row,) = asyncio.run(spectrace.reverify(recorded.episode, f"labels:{tmp_path / 'gold.csv'}", store))
    store.close()

    assert (row.new.decision, row.new.category) == ("reject", "other")


def test_a_replay_with_another_option_says_which(tmp_path):
    store = spectrace.open_store(f"sqlite:///{tmp_path / 'runs.db'}")
    recorded = run_shop(store)
    same, other, unknown = (
        asyncio.run(spectrace.replay(recorded.episode, store, options=options))
        for options in ({"k": 6}, {"finish": "free"}, {"k": 0})
    )
    store.close()

    assert (same.result, unknown.result) == ("same", "untestable")
    assert "/options/finish (recorded 'held', now 'free')" in other.detail


def test_a_replay_on_an_environment_counts_the_classes_of_its_answers_and_says_what_it_lets_pass(tmp_path):
    store = spectrace.open_store(f"sqlite:///{tmp_path / 'runs.db'}")
    recorded = run_shop(store)
    passing = {"accept": ["cosmetic", "id-renamed"], "volatile": ["get_order:/at"], "frozen": True}
    again = asyncio.run(spectrace.replay(recorded.episode, store, env="shop", **passing))
    with pytest.raises(spectrace.errors.UsageError, match="what may be accepted is json-equal, cosmetic"):
        asyncio.run(spectrace.replay(recorded.episode, store, env="shop", accept=["anything"]))
    store.close()

    assert (again.result, again.classes["exact"], again.inexact) == ("same", 3, ())


def test_a_missing_model_store_or_task_is_named(tmp_path):
    store = spectrace.open_store(f"sqlite:///{tmp_path / 'runs.db'}")
    model = spectrace.ScriptedModel([])
    with pytest.raises(spectrace.errors.UsageError, match="needs a store"):
        asyncio.run(spectrace.run("cancel-own", "shop", model, model))
    with pytest.raises(spectrace.errors.UsageError, match="specagent needs strong"):
        asyncio.run(spectrace.run("cancel-own", "shop", model, store=store))
    with pytest.raises(spectrace.errors.UsageError, match="no task is named 'nope'"):
        asyncio.run(spectrace.run("nope", "shop", model, model, store=store))
    store.close()


def test_a_fork_with_an_edited_verdict_is_done_on_the_persons_authority(tmp_path):
    store = spectrace.open_store(f"sqlite:///{tmp_path / 'runs.db'}")
    parent = recorded(store)
    seq = next(event.seq for event in store.read(parent) if event.type == "verdict.given")
    weak, strong = spectrace.ScriptedModel(DONE), spectrace.ScriptedModel([accept()])
    how = {"store": store, "verdict": accept()}
    with pytest.raises(spectrace.errors.UsageError, match="an edited verdict needs by=NAME"):
        asyncio.run(spectrace.fork(parent, seq, "shop", weak, strong, **how))
    child = asyncio.run(spectrace.fork(parent, seq, "shop", weak, strong, **how, by="Ann"))
    ran = [deed.authority for deed in deeds(store.read(child.episode)) if deed.tool == "cancel_order"]
    operator = next(store.read(child.episode)).body.operator
    store.close()

    assert (child.outcome.status, ran, operator) == ("completed", ["person:Ann"], "Ann")


def test_an_interrupted_episode_is_resumed_in_an_environment_that_outlives_it(tmp_path):
    desk = tmp_path / "desk.db"
    weak, strong = [at("change"), at("change", "B"), Finish("done")], [accept()] * 3
    events = recorded_in(open_lasting(desk), spectrace.SpecAgent(), weak=weak, strong=strong)
    done = next(event.seq for event in events if event.type == "act.completed")
    with connected(desk) as database:
        database.execute("DELETE FROM changes WHERE id = 'B'")
    store = spectrace.open_store(f"sqlite:///{tmp_path / 'runs.db'}")
    parent = cut(store, events, done)
    models = spectrace.ScriptedModel(weak[1:]), spectrace.ScriptedModel(strong[1:])
    child = asyncio.run(spectrace.resume(parent[:6], open_lasting(desk), *models, store, by="Ann"))
    again = asyncio.run(spectrace.replay(child.episode, store))
    with pytest.raises(spectrace.errors.UsageError, match="which has acted since"):
        asyncio.run(spectrace.resume(parent, open_lasting(desk), *models, store))
    store.close()

    assert (child.outcome.reward, child.totals.writes, again.result) == ("1.0", 1, "same")
    assert changes(desk) == ["A", "B"]


def test_a_fork_and_a_resume_need_the_store_that_holds_the_episode_and_their_models(tmp_path):
    model = spectrace.ScriptedModel([])
    with pytest.raises(spectrace.errors.UsageError, match="fork needs the store"):
        asyncio.run(spectrace.fork("x", 1, "shop", model, model))
    with pytest.raises(spectrace.errors.UsageError, match="resume needs the store"):
        asyncio.run(spectrace.resume("x", "shop", model, model))
    store = spectrace.open_store(f"sqlite:///{tmp_path / 'runs.db'}")
    with pytest.raises(spectrace.errors.UsageError, match="specagent needs strong"):
        asyncio.run(spectrace.fork(recorded(store), 4, "shop", model, store=store))
    store.close()
