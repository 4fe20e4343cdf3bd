"""`reverify --verdict scored` against a server that speaks SGLang's /generate: what it is sent, told and recorded."""

import re

import pytest

from spectrace.store.sql import open_store
from tests.command_line import in_a_directory
from tests.model_server import model_server
from tests.scoring_server import NAME, scoring_server
from tests.shop_log import recorded


@pytest.fixture
def line(monkeypatch, tmp_path):
    return in_a_directory(monkeypatch, tmp_path)


@pytest.fixture
def episode(line):
    store = open_store("spectrace.db")
    found = recorded(store)
    store.close()
    return found


def scored(line, episode, server, *more):
    asked = ("--verifier", f"sglang:{NAME}@{server.url}", "--name", "again", "--verdict", "scored")
    return line("reverify", episode, *asked, *more)


def test_a_review_that_is_accepted_is_one_prefill_and_nothing_is_decoded(line, episode):
    with scoring_server(lambda _: 2.0) as server:
        result = scored(line, episode, server)

    assert result.exit_code == 0, result.stderr
    assert (server.scored, server.decoded, len(server.bodies)) == ([1, 2, 1], 0, 3)
    assert {body["sampling_params"]["max_new_tokens"] for body in server.bodies} == {0}
    assert [one.path for one in server.received if "chat" in one.path] == []


def test_a_rejection_is_asked_for_its_reason_once_more(line, episode):
    with scoring_server(lambda number: -2.0 if number == 2 else 2.0) as server:
        result = scored(line, episode, server)
        items = line.items("reverify", "--name", "again", "--verifier", f"sglang:{NAME}@{server.url}")

    assert (result.exit_code, len(server.bodies), server.decoded) == (0, 4, 25)
    assert [(one["threshold"], one["new"]["decision"], one["new"]["probabilities"]) for one in items] == [
        ("0.5", "accept", ["0.880797"]),
        ("0.5", "reject", ["0.119203", "0.119203"]),
        ("0.5", "accept", ["0.880797"]),
    ]
    assert [one["recorded"]["probabilities"] for one in items] == [None, None, None]


def test_what_it_will_take_and_how_verdicts_were_read_is_said(line, episode):
    with scoring_server(lambda _: 2.0) as server:
        result = scored(line, episode, server, "--threshold", "0.70")
    before, told = " ".join(result.stderr.split()), " ".join(result.stdout.split())

    assert "It will take 3 calls and 1 more for reasons, if what was rejected is rejected again, about" in before
    assert "Verdicts are scored at 0.7: what is accepted decodes nothing." in before
    assert f"run again verifier sglang:{NAME}, verdicts scored at 0.7" in told
    assert "a step stood from 0.7 on. Of 4 scored steps 0 (0.0 %) lie within 0.15 nat of the threshold" in told


def test_repeats_tell_the_steps_near_the_threshold_and_how_often_the_verifier_differs_from_itself(line, episode):
    with scoring_server(lambda number: 0.1 if number <= 3 else -0.1) as server:
        shown = scored(line, episode, server, "--repeat", "2").stdout
    compared = line("compare", "again").stdout
    figures = {one["metric"]: one for one in line.items("compare", "again")}

    assert compared in shown
    assert re.search(r"differs from itself \(new\) +100\.0 % +3 reviews +1\n", shown)
    assert re.search(r"scored within 0\.15 nat \(new\) +100\.0 % +7 scored steps +1\n", shown)
    assert "floor unknown" in shown
    assert (figures["disagreement_second"]["value"], figures["near_threshold"]["value"]) == (1, 1)


def test_a_scored_child_replays_without_the_server_and_the_same_name_goes_on_alike(line, episode):
    with scoring_server(lambda _: 2.0) as server:
        scored(line, episode, server, "--threshold", "0.6")
        again = line("reverify", "--name", "again", "--verifier", f"sglang:{NAME}@{server.url}")
        other = scored(line, episode, server, "--threshold", "0.7")
        written = scored(line, episode, server, "--verdict", "decoded")
        asked = len(server.bodies)
    (child,) = (one["episode"] for one in line.items("ls", "--protocol", "reverify"))
    replayed = line("replay", child)

    assert (again.exit_code, asked) == (0, 3)
    assert "exists with verdicts scored at 0.6, now verdicts scored at 0.7" in " ".join(other.stderr.split())
    assert "now decoded verdicts" in " ".join(written.stderr.split())
    assert (other.exit_code, written.exit_code) == (2, 2)
    assert (replayed.exit_code, "same" in replayed.stdout) == (0, True)


JUDGE = "def judge(request):\n    return True\n"


@pytest.mark.parametrize("kind", ["openai:m@{url}", "anthropic:m@{url}", "checks:judge", "labels:people.csv"])
def test_a_verifier_that_cannot_score_is_refused_before_anything_is_asked_or_recorded(
    line, episode, tmp_path, monkeypatch, kind
):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    (tmp_path / "checks.py").write_text(JUDGE)
    (tmp_path / "people.csv").write_text(f"episode,segment,accepted\n{episode},1,0\n")
    with model_server() as server:
        verifier = kind.format(url=server.url)
        result = line("reverify", episode, "--verifier", verifier, "--name", "again", "--verdict", "scored")
    said = " ".join(result.stderr.split())

    assert result.exit_code == 2
    assert f"the verifier {verifier.partition('@http')[0]} gives none" in said
    assert "Name a model behind SGLang, sglang:NAME@URL, or leave it at decoded verdicts" in said
    assert (server.received, len(line.items("ls")), line("runs", "again").exit_code) == ([], 1, 2)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (["--threshold", "0.7"], "--threshold 0.7 is of --verdict scored"),
        (["--verdict", "decoded", "--threshold", "0.7"], "--threshold 0.7 is of --verdict scored"),
        (["--verdict", "scored", "--threshold", "2"], "expected a probability from 0 to 1"),
        (["--verdict", "scored", "--template"], "people, who give no probabilities"),
        (["--threshold", "0.7", "--template"], "people, who give no probabilities"),
    ],
)
def test_what_makes_no_sense_together_is_refused(line, episode, more, why):
    result = line("reverify", episode, "--verifier", "labels:people.csv", *more)

    assert result.exit_code == 2
    assert why in " ".join(result.stderr.split())
