"""Case 031: a judge that flips at temperature 0 is a sample: every answer is kept, none replaces the recorded one."""

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import pytest

from spectrace.audit.agreement import episode_reviews
from spectrace.core.digest import digest_of
from spectrace.core.events import GenerateRequested
from spectrace.core.fold import fold
from spectrace.core.types import Completion, Finish, Message, ToolCall
from spectrace.stats.agreement import agreement
from spectrace.stats.bootstrap import TaskBootstrap
from spectrace.stats.noise import FLOOR_UNKNOWN, Repeated, among, noise
from tests.lending_desk import play, segment
from tests.playbook import accept, reject

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())
ATTEMPTS = [json.loads(line)["verdict"] for line in (CASE / "attempts.jsonl").read_text().splitlines()]
STEPS = segment(CASE / "segment.json")[0]
DRAFT = Message("assistant", "", tuple(ToolCall(f"c{n}", step.tool, step.arguments) for n, step in enumerate(STEPS)))


def verdict(attempt):
    length = attempt["valid_prefix_len"]
    return accept() if length == len(STEPS) else reject(length + 1, reason=attempt["reason"])


def recorded(outputs=None):
    return play([Completion(DRAFT), Finish("Renewed.")], [accept(), accept()], outputs, native=True)


def question(asked):
    """The digest of what a model was asked."""
    return digest_of([asdict(message) for message in asked.messages])


@pytest.fixture
def desk():
    return recorded()


@pytest.fixture
def passes(desk):
    """Five re-verifications of the episode; the flips are on its first segment."""
    return [desk.reverified(verdict(attempt), accept()) for attempt in ATTEMPTS]


def test_five_results_are_kept_apart_each_with_model_prompt_and_time(desk, passes):
    children = [fold(desk.store.read(one[0].child)) for one in passes]
    asked = [
        next(event for event in desk.store.read(child.id) if isinstance(event.body, GenerateRequested))
        for child in children
    ]

    assert len({child.id for child in children}) == EXPECTED["n_results"]
    assert {child.started.models[0].name for child in children} == {"second"}
    assert len({question(event.body) for event in asked}) == 1
    assert all(event.at for event in asked)


def test_how_many_say_the_same_is_told_with_the_count(desk, passes):
    lengths = Counter(one[0].new.accepted for one in passes)
    parent = fold(desk.store.read(passes[0][0].episode))
    reviews = [next(episode_reviews(parent, {one[0].segment: one[0].new})) for one in passes]
    found = agreement(reviews)

    ((mode, count),) = lengths.most_common(1)
    assert (mode, f"{count}/{lengths.total()}") == (EXPECTED["mode"], EXPECTED["agree"])
    assert (found.value, found.n, found.clusters) == (3 / 5, 5, 1)


def test_the_noise_of_the_verifier_is_known_and_that_of_the_recorded_one_is_not(passes):
    answers = tuple(str(one[0].new.accepted) for one in passes)
    found = noise([Repeated("t", ("4",), answers)], TaskBootstrap())

    assert among(answers) == pytest.approx(6 / 10)
    assert found.excess.method == FLOOR_UNKNOWN


@pytest.mark.usefixtures("passes")
def test_a_replay_uses_the_verdict_of_the_episode(desk):
    assert desk.replayed().result == "same"
    assert [one.verdict.decision for one in desk.episode.segments if one.verdict] == ["accept", "accept"]


def test_a_trailing_newline_makes_another_question():
    plain, longer = recorded({STEPS[2].tool: "open"}), recorded({STEPS[2].tool: "open\n"})
    first, second = (
        next(question(body) for body in one.bodies(GenerateRequested) if body.role == "reviewer")
        for one in (plain, longer)
    )

    assert first != second
