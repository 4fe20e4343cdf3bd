from dataclasses import replace

import pytest

from spectrace.audit.costing import Costing, cost_groups
from spectrace.audit.relative import relative
from spectrace.audit.spending import spending
from spectrace.cli.cost_items import items, r_item, sentences
from spectrace.core.baselines import StrongOnly
from spectrace.cost.phases import MEASURES
from spectrace.cost.prediction import Prediction
from spectrace.cost.profile_file import load_profile
from tests.episodes import recorded_events
from tests.spent import ALONE_TOLD, STRONG_TOLD, WEAK_TOLD

WORDS = {measure: measure for measure in MEASURES}


@pytest.fixture(scope="module")
def found():
    costing = Costing(profile=load_profile("paper"))
    (group,) = cost_groups([spending(recorded_events(weak=WEAK_TOLD, strong=STRONG_TOLD))], costing)
    alone = spending(recorded_events(weak=WEAK_TOLD, strong=ALONE_TOLD, protocol=StrongOnly()))
    return group, relative(group, cost_groups([alone], costing))


def test_r_stands_with_the_item_of_all_phases(found):
    rows = list(items(*found))

    assert [(row["phase"], row["who"], row["r_accounting"] is not None) for row in rows] == [
        ("draft", "weak", False),
        ("verify", "strong", False),
        ("all", None, True),
    ]


def test_the_items_have_the_fields_that_others_rely_on(found):
    for row in items(*found):
        assert {"protocol", "phase", "calls", "tokens", "flops", "hbm_read_low", "hbm_read_high"} <= set(row)
        assert {"r_accounting", "r_proposition", "r_predicted"} <= set(row)


def test_an_unknown_r_has_its_reason(found):
    last = list(items(found[0], "no reference was named"))[-1]

    assert (last["r_accounting"], last["r_unknown"]) == (None, "no reference was named")


def test_costs_are_told_per_step_and_per_episode(found):
    last = list(items(*found))[-1]

    assert (last["per_step"]["seconds"], last["per_episode"]["seconds"]) == (
        pytest.approx(6.8 / 4),
        pytest.approx(6.8),
    )


def test_the_time_of_all_models_is_told(found):
    assert any("all models together take 0.850" in sentence for sentence in sentences(found[1], WORDS))


def test_a_group_without_reviews_has_no_v(found):
    costing = Costing(profile=load_profile("paper"))
    alone = cost_groups([spending(recorded_events(weak=WEAK_TOLD, strong=ALONE_TOLD, protocol=StrongOnly()))], costing)

    one = r_item(relative(alone[0], alone).measures["flops"])

    assert (one["v_over_d"], one["rho"], one["r_accounting"]) == (None, None, pytest.approx(1))


def test_where_a_value_is_null_there_is_a_reason(found):
    for measure, values in found[1].measures.items():
        one = r_item(values)

        assert (one["r_accounting"] is None) == (one["why"] is not None), measure
        assert (one["r_predicted"] is None) == (one["why_no_prediction"] is not None), measure


def test_the_solved_and_the_measured_p_and_n_are_told(found):
    (first, *_) = sentences(found[1], WORDS)

    assert first.startswith("Proposition 1 has p = 0.750 and n = 1.41")
    assert first.endswith("0.750 stood, and 1.33 were drafted for a review.")


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (None, None, "fitted on 5 tasks, tested on 4: error +0.100, too few for an interval."),
        (-0.1, 0.3, "error +0.100, [-0.100, +0.300] (95 %, jackknife over tasks of both halves, t)."),
    ],
)
def test_a_prediction_is_told_with_its_interval_and_method(found, low, high, said):
    measures = found[1].measures
    predicted = Prediction(0.5, 0.4, low, high, 5, 4)
    r = replace(found[1], measures={**measures, "flops": replace(measures["flops"], predicted=predicted)})

    assert any(sentence.endswith(said) for sentence in sentences(r, WORDS))


def test_calls_that_were_left_out_are_told(found):
    measures = found[1].measures
    r = replace(found[1], measures={**measures, "flops": replace(measures["flops"], left_out=2)})

    assert any(sentence.startswith("2 failed calls") for sentence in sentences(r, WORDS))
