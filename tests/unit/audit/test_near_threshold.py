import json
from dataclasses import replace

import pytest

from spectrace.audit.near_threshold import ScoredSteps, scored_steps, steps_near
from spectrace.core.fold import fold
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Verdict
from tests.episodes import CANCEL, DONE, FIND, recorded_events
from tests.playbook import accept, reject

EXPLAINED = reject(1, FIND).replace('"verdict": "reject", "first_wrong": 1, ', "")


def scores(*log_odds):
    """Log-probabilities whose difference is so much; a positive one is above the threshold of one half."""
    return json.dumps({"yes": [f"{min(x, 0)}" for x in log_odds], "no": [f"{min(-x, 0)}" for x in log_odds]})


def counted(*replies, **options):
    protocol = SpecAgent(verdict="scored", **options)
    return scored_steps(fold(recorded_events(weak=[CANCEL, FIND, DONE], strong=list(replies), protocol=protocol)))


def with_probabilities(text):
    """An episode whose verdicts hold another text than was recorded."""
    episode = fold(recorded_events(weak=[DONE], strong=[scores(3.0)], protocol=SpecAgent(verdict="scored")))
    for segment in episode.segments:
        segment.verdict = replace(segment.verdict, probabilities=text)
    return scored_steps(episode)


@pytest.mark.parametrize(("log_odds", "near"), [(0.149, 1), (-0.149, 1), (0.151, 0), (3.0, 0)])
def test_a_step_is_near_within_the_margin_on_either_side(log_odds, near):
    first = [scores(log_odds)] if log_odds > 0 else [scores(log_odds), EXPLAINED]

    assert counted(*first, scores(3.0, 3.0)) == ScoredSteps(near, 3)


def test_the_threshold_is_the_recorded_one():
    assert counted(scores(1.05), scores(3.0, 1.2), threshold="0.7310586") == ScoredSteps(1, 3)


def test_steps_behind_the_first_wrong_one_were_not_judged():
    assert with_probabilities('["0.9", "0.5", "0.5"]').judged == 2


def test_a_decoded_verdict_has_no_score():
    assert scored_steps(fold(recorded_events(weak=[DONE], strong=[accept()]))) == ScoredSteps()


@pytest.mark.parametrize("text", ["", "{}", "[" * 100_000, '["x"]', '["nan"]', '["2"]', "[0.5]", "[null]", "7"])
def test_probabilities_that_are_none_count_nowhere(text):
    assert with_probabilities(text) == ScoredSteps()


@pytest.mark.parametrize("text", ['["0.000000"]', '["1.000000"]'])
def test_certainty_is_far_from_every_threshold(text):
    assert with_probabilities(text) == ScoredSteps(0, 1)


def test_of_verdicts_each_judged_step_is_told():
    verdicts = [Verdict(3, 1, probabilities='["0.9", "0.5", "0.5"]'), Verdict(1, 1), Verdict(1, 1, probabilities="?")]

    assert steps_near(verdicts, "0.5") == [False, True]
    assert steps_near(verdicts, "near") == []
