"""Live models on a recorded environment: nothing is done, nothing guessed, and every live answer is counted."""

import asyncio
from dataclasses import replace

import pytest

from spectrace.core.events import ActRequested
from spectrace.core.types import Finish
from spectrace.environments.functions import FunctionEnvironment
from spectrace.errors import ModelFailed, UsageError
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.live_models import Asking, replay_with_models
from spectrace.runs.purse import Purse
from tests.episodes import CANCEL, DONE, FIND, READ, STRONG, WEAK, call, recorded_events
from tests.playbook import accept


def asked(events, weak=WEAK, strong=STRONG, **how):
    options = how.pop("options", None)
    clients = {"weak": ScriptedModel(list(weak)), "strong": ScriptedModel(list(strong))}
    return asyncio.run(replay_with_models(events, Asking(clients=clients, **how), options))


def acts(events):
    return [event for event in events if isinstance(event.body, ActRequested)]


READS = [FIND, READ, CANCEL, DONE]


def reading(weak=READS):
    return recorded_events(weak=list(weak), strong=[accept(), accept()])


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    """Whatever an environment would do from here on is a failure, but for recording."""
    recorded = {"episode": recorded_events(), "reads": reading()}

    async def refuse(*_, **__):
        raise AssertionError("an environment was reached")

    monkeypatch.setattr(FunctionEnvironment, "act", refuse)
    monkeypatch.setattr(FunctionEnvironment, "reset", refuse)
    monkeypatch.setattr(FunctionEnvironment, "evaluate", refuse)
    return recorded


def test_models_that_do_the_same_come_out_the_same_and_are_counted(no_environment):
    events = no_environment["episode"]
    result = asked(events)

    assert (result.result, result.compared, result.total) == ("same", len(acts(events)), len(acts(events)))
    assert (result.live, "tainted: 7 live answers" in result.detail) == (7, True), result.detail


def test_an_action_that_is_not_recorded_ends_it_there_with_the_nearest(no_environment):
    events = no_environment["reads"]
    result = asked(events, [FIND, call("get_order", order_id="W999")], [])
    first = result.first_difference

    assert (result.result, first.seq, result.live) == ("diverged", acts(events)[1].seq, 2)
    assert (first.recorded, first.found) == (
        'get_order({"order_id": "W200"})',
        'get_order({"order_id": "W999"})',
    )
    assert first.nearest[0].differs == ("/arguments/order_id",)
    assert "Not recorded;" in result.detail


def test_reads_in_another_order_have_their_answers_and_diverge_in_order(no_environment):
    result = asked(no_environment["reads"], [READ, FIND, CANCEL, DONE], [accept(), accept()])

    assert (result.result, result.compared) == ("diverged", result.total)
    assert "another order" in result.detail


def test_what_is_left_over_diverges(no_environment):
    result = asked(no_environment["reads"], [FIND, CANCEL, DONE], [accept(), accept()])

    assert (result.result, result.first_difference.found) == ("diverged", "never asked")


def test_another_final_answer_is_another_action(no_environment):
    result = asked(no_environment["reads"], [*READS[:3], Finish("Cancelled.")], [accept(), accept()])

    assert result.first_difference.found == '{"finish": "Cancelled."}'


def test_a_write_of_the_record_is_answered_and_its_grade_with_it(no_environment):
    result = asked(no_environment["reads"], READS, [accept(), accept()])

    assert (result.result, result.compared) == ("same", 4)


def test_a_record_that_broke_off_is_the_same_as_far_as_it_goes(no_environment):
    events = no_environment["reads"]
    cut = events[: acts(events)[1].seq + 2]
    result = asked(cut, READS, [accept(), accept()])

    assert (result.result, result.compared, "the record breaks off" in result.detail) == ("same", 2, True)


def test_a_write_without_an_answer_is_where_the_record_breaks_off_and_is_not_done(no_environment):
    events = no_environment["reads"]
    write = acts(events)[2]
    result = asked(events[: write.seq + 1], READS, [accept(), accept()])

    assert (result.result, result.compared, result.total) == ("same", 2, 3)
    assert f"the record breaks off at event {write.seq}" in result.detail


def test_another_action_than_the_one_without_an_answer_is_a_divergence(no_environment):
    events = no_environment["reads"]
    cut = events[: acts(events)[2].seq + 1]
    result = asked(cut, [FIND, READ, call("cancel_order", order_id="W999")], [accept(), accept()])

    assert (result.result, result.first_difference.seq) == ("diverged", acts(events)[2].seq)


def test_options_may_be_others(no_environment):
    assert asked(no_environment["reads"], READS, [accept(), accept()], options={"k": 1}).result == "same"


def test_a_purse_that_is_empty_asks_nobody_more_and_proves_nothing(no_environment):
    result = asked(no_environment["reads"], purse=Purse("0.000001", of_run=True, spent=5))

    assert (result.result, result.live) == ("untestable", 0)
    assert "max_cost_usd" in result.detail


def test_a_price_that_nobody_knows_is_asked_for_before_anything(no_environment):
    class Unpriced(ScriptedModel):
        async def facts(self):
            return replace(await super().facts(), provider="somebody")

    clients = {"weak": Unpriced(READS), "strong": Unpriced([])}
    asking = Asking(clients=clients, purse=Purse("1", of_run=True))

    with pytest.raises(UsageError, match="needs a price"):
        asyncio.run(replay_with_models(no_environment["reads"], asking))
    assert clients["weak"].requests == []


def test_a_model_that_does_not_answer_proves_nothing(no_environment):
    result = asked(no_environment["reads"], [FIND, ModelFailed("unreachable", "no route")], [])

    assert (result.result, result.live) == ("untestable", 1)
    assert "a model did not answer: no route" in result.detail


@pytest.mark.parametrize("protocol", ["imported", "reverify", "mystery"])
def test_what_no_generator_made_cannot_be_tested(no_environment, protocol):
    events = no_environment["reads"]
    other = [replace(events[0], body=replace(events[0].body, protocol=protocol)), *events[1:]]

    assert asked(other).result == "untestable"


def test_the_models_are_asked_with_the_recorded_prompts_and_their_own_parameters(no_environment):
    weak = ScriptedModel(list(READS))
    clients = {"weak": weak, "strong": ScriptedModel([accept(), accept()])}
    asyncio.run(replay_with_models(no_environment["reads"], Asking(clients=clients)))

    assert len(weak.requests) == 4
    assert CANCEL.tool in weak.requests[0].messages[0].content
