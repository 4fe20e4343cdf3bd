"""The library's verbs, as a user calls them."""

import asyncio

import pytest

import spectrace
from tests.playbook import accept


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
