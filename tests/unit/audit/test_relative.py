from dataclasses import replace

import pytest

from spectrace.audit.costing import Costing, cost_groups
from spectrace.audit.relative import relative
from spectrace.audit.spending import spending
from spectrace.core.baselines import StrongOnly
from spectrace.core.types import Usage
from spectrace.cost.phases import MEASURES
from spectrace.cost.prediction import Prediction
from spectrace.cost.profile_file import load_profile
from spectrace.errors import ModelFailed
from tests.episodes import CANCEL, DONE, READ, recorded_events
from tests.playbook import accept
from tests.spent import ALONE_TOLD, STRONG_TOLD, WEAK_TOLD, told

PAPER = Costing(profile=load_profile("paper"))


SPEC = recorded_events(weak=WEAK_TOLD, strong=STRONG_TOLD)
ALONE = recorded_events(weak=WEAK_TOLD, strong=ALONE_TOLD, protocol=StrongOnly())


def spec(**of_record):
    return spending(recorded_events(**{"weak": WEAK_TOLD, **of_record}) if of_record else SPEC)


def alone(strong=None):
    return spending(recorded_events(strong=strong, protocol=StrongOnly()) if strong else ALONE)


def r_of(mine, *theirs, costing=PAPER):
    (group,) = cost_groups(mine, costing)
    return relative(group, cost_groups(theirs, costing))


def test_r_in_time_is_what_the_latencies_say():
    lines = r_of([spec()], alone()).measures["seconds"].accounted

    assert (lines.d, lines.v, lines.rho_d) == (2.0, 1.0, 3.0)
    assert lines.r == pytest.approx(3 / 4 * 1 / 2 + 1 / 4 * 3 / 2)


def test_r_accounts_for_everything_that_the_strong_model_cost():
    one, reference = spec(), alone()
    (group,) = cost_groups([one], PAPER)
    found = relative(group, cost_groups([reference], PAPER))

    for measure in ("flops", "hbm_read_low", "hbm_read_high", "seconds"):
        lines = found.measures[measure].accounted
        spent = sum(call.cost(measure) for call in group.calls.values() if call.who == "strong")
        assert (lines.r + lines.apart) * lines.d * lines.steps == pytest.approx(spent, rel=1e-9)


def test_every_measure_has_its_values_and_none_is_another():
    found = r_of([spec()], alone()).measures

    assert tuple(found) == MEASURES
    assert len({found[measure].accounted.r for measure in MEASURES[:4]}) == 4


def test_the_strong_model_alone_costs_1_against_itself():
    one = alone()

    found = r_of([one], one).measures["flops"]

    assert (found.accounted.r, found.per_task) == (pytest.approx(1), pytest.approx(1))


def test_proposition_1_stands_beside_the_accounting():
    found = r_of([spec()], alone()).measures["seconds"]

    assert (found.proposition.p, found.proposition.r) == (0.75, pytest.approx(found.accounted.r))


def test_the_measured_p_and_n_stand_beside_the_solved_ones():
    assert r_of([spec()], alone()).judged == (3 / 4, 4 / 3)


def test_per_task_compares_all_strong_calls():
    assert r_of([spec()], alone()).measures["seconds"].per_task == pytest.approx(6 / 8)


def test_what_a_protocol_costs_in_all_counts_the_weak_model_too():
    assert r_of([spec()], alone()).measures["seconds"].per_task_all == pytest.approx((6 + 4 * 0.2) / 8)


def test_latency_is_what_all_models_take():
    found = r_of([spec()], alone()).latency

    assert (found.kappa, found.drafting) == (pytest.approx(0.2 / 2), pytest.approx(4 * 0.2 / 4 / 2))
    assert found.relative == pytest.approx((6 + 4 * 0.2) / 4 / 2)


def test_the_strong_model_alone_has_no_drafting():
    one = alone()

    assert r_of([one], one).latency is None


def test_trials_of_a_task_count_as_their_mean():
    found = r_of([spec(), spec(), spec()], alone(), alone())

    assert (found.tasks, found.measures["seconds"].per_task) == (1, pytest.approx(6 / 8))


def test_a_free_model_has_no_r_in_money():
    assert "costs nothing" in r_of([spec()], alone()).measures["usd"].accounted


def test_without_a_reference_r_is_unknown():
    assert "no reference was named" in r_of([spec()])


def test_a_reference_without_strong_only_episodes_is_none():
    assert "no strong-only episode" in r_of([spec()], spec())


def test_a_reference_on_other_tasks_is_none():
    other = alone()
    elsewhere = replace(other, started=replace(other.started, task_digest="sha256:other"))

    assert "none of these tasks" in r_of([spec()], elsewhere)


def test_an_imported_recording_of_one_model_is_a_reference():
    other = alone()
    facts = tuple(one for one in other.started.models if one.role == "strong")
    imported = replace(other, started=replace(other.started, protocol="imported", models=facts))

    assert r_of([spec()], imported).measures["seconds"].accounted.d == 2.0


def test_of_the_reference_only_the_strong_only_episodes_count():
    with_more = r_of([spec()], alone(), spec())

    assert with_more.measures["seconds"].accounted.d == 2.0


def test_an_answer_of_unknown_tokens_makes_r_unknown_where_tokens_matter():
    strong = [replace(STRONG_TOLD[0], usage=Usage()), *STRONG_TOLD[1:]]

    found = r_of([spec(strong=strong)], alone()).measures

    assert "1 of 3 strong calls have no count of tokens" in found["flops"].accounted
    assert found["seconds"].accounted.r > 0


def test_a_reference_of_unknown_tokens_is_named():
    reference = alone([replace(one, usage=Usage()) for one in ALONE_TOLD])

    assert r_of([spec()], reference).measures["flops"].accounted.startswith("reference: 4 of 4 strong calls")


def test_a_failed_call_of_unknown_cost_is_left_out_and_counted():
    one = spec(strong=[STRONG_TOLD[1], ModelFailed("server", "gone")], weak=[READ, CANCEL, DONE])

    found = r_of([one], alone()).measures["flops"]

    assert (found.left_out, found.accounted.reviews) == (1, 1)


def test_the_prediction_is_fitted_and_tested_on_different_tasks():
    ones = []
    for number in range(24):
        one = spec()
        ones.append(replace(one, started=replace(one.started, task_digest=f"sha256:{number}")))
    references = [
        replace(other, started=replace(other.started, task_digest=one.started.task_digest))
        for one, other in zip(ones, (alone() for _ in ones), strict=True)
    ]

    found = r_of(ones, *references).measures["seconds"].predicted

    assert isinstance(found, Prediction)
    assert (found.fitted_on, found.tested_on, found.error) == (12, 12, pytest.approx(0, abs=1e-9))


def test_a_log_without_reviews_predicts_nothing():
    one = alone()

    assert r_of([one], one).measures["flops"].predicted == "nothing was reviewed"


def test_re_asks_are_no_part_of_r():
    strong = [told("well", 600, 0, 3, 9.0), *STRONG_TOLD]

    found = r_of([spec(strong=strong)], alone()).measures["seconds"].accounted

    assert (found.apart, found.reviews) == (pytest.approx(4.0 / 4 / 2), 3)


def test_a_segment_that_was_accepted_whole_costs_its_review():
    one = spec(weak=[READ, CANCEL, DONE], strong=[told(accept(), 700, 0, 5), told(accept(), 800, 0, 5)])

    assert r_of([one], alone()).measures["seconds"].accounted.rho == 0
