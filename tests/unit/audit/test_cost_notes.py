from dataclasses import replace

import pytest

from spectrace.audit.cost_notes import notes
from spectrace.audit.costing import Costing, cost_groups
from spectrace.audit.spending import spending
from spectrace.core.baselines import StrongOnly
from spectrace.core.events import Parent
from spectrace.cost.profile_file import load_profile
from tests.episodes import recorded_events
from tests.spent import ALONE_TOLD, STRONG_TOLD, WEAK_TOLD

PAPER = Costing(profile=load_profile("paper"))
SPEC = recorded_events(weak=WEAK_TOLD, strong=STRONG_TOLD)
ALONE = recorded_events(weak=WEAK_TOLD, strong=ALONE_TOLD, protocol=StrongOnly())


def spec():
    return spending(SPEC)


def alone():
    return spending(ALONE)


def at_once(one, n):
    return replace(one, started=replace(one.started, concurrency=n))


@pytest.mark.parametrize(("n", "said"), [(37, False), (38, True)])
def test_past_the_balance_point_the_report_says_so(n, said):
    groups = cost_groups([at_once(spec(), n)], PAPER)

    assert any("past 37 sequences on H20 Assumption 1 fails" in note for note in notes(groups, PAPER)) == said


@pytest.mark.parametrize(("n", "said"), [(8, False), (4, True), (None, True)])
def test_wall_times_at_another_concurrency_do_not_compare(n, said):
    groups = cost_groups([at_once(spec(), 8), at_once(alone(), n)], PAPER)

    assert any("only at equal concurrency on the same deployment" in note for note in notes(groups, PAPER)) == said


def test_wall_times_on_another_deployment_do_not_compare():
    other = alone()
    models = tuple(replace(facts, url="http://elsewhere") for facts in other.started.models)
    groups = cost_groups([spec(), replace(other, started=replace(other.started, models=models))], PAPER)

    assert any("same deployment" in note for note in notes(groups, PAPER))


@pytest.mark.parametrize(
    ("profile", "every", "said"), [("paper", None, True), ("paper", 0, False), ("local", None, False)]
)
def test_of_a_hybrid_model_the_best_case_is_said_to_be_one(profile, every, said):
    costing = Costing(profile=load_profile(profile), checkpoint_every=every)

    assert any("which is the best case" in note for note in notes(cost_groups([spec()], costing), costing)) == said


def test_estimated_tokens_are_said_to_be():
    costing = Costing(estimate_tokens=True)

    assert "four bytes" in notes(cost_groups([spending(recorded_events())], costing), costing)[0]


def test_episodes_that_are_superseded_are_said_to_be_left_out():
    one = replace(spec(), started=replace(spec().started, run="nightly"))
    groups = cost_groups([replace(one, score=None), replace(one, episode="second", at=one.at + 1)], PAPER)

    assert any(note.startswith("1 superseded episode left out: ") for note in notes(groups, PAPER))


def test_what_a_fork_took_over_is_said_to_be_counted():
    fork = replace(spec(), started=replace(spec().started, parent=Parent("fork", "ep1", 9)))
    verified = replace(spec(), started=replace(spec().started, parent=Parent("reverify", "ep1", 9)))

    assert any(note.startswith("1 fork: the calls taken over") for note in notes(cost_groups([fork], PAPER), PAPER))
    assert not any("taken over" in note for note in notes(cost_groups([verified], PAPER), PAPER))


def test_what_a_resumed_episode_took_over_is_said_to_be_counted_and_its_time_to_be_its_own():
    child = replace(spec(), started=replace(spec().started, parent=Parent("resume", "ep1", 9)))
    (note,) = (one for one in notes(cost_groups([child], PAPER), PAPER) if "taken over" in one)

    assert note.startswith("1 resumed episode: the calls taken over")
    assert note.endswith("Wall times are those of going on alone.")
