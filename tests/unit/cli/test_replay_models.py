"""`replay --models live`: live models act on recorded answers; every answer of theirs is counted, nothing is done."""

import json

import pytest

from spectrace.cli import replay_episodes
from spectrace.store.sql import open_store
from tests.shop_log import STRONG_SCRIPT, WEAK_SCRIPT, recorded, script


@pytest.fixture
def models(tmp_path, monkeypatch):
    """Give script files as the models; opening an environment is a failure."""

    def refuse(*_, **__):
        raise AssertionError("an environment was opened")

    for name in ("open_environment", "builtin_environment"):
        monkeypatch.setattr(replay_episodes, name, refuse)

    def given(weak=WEAK_SCRIPT, strong=STRONG_SCRIPT):
        return (
            "--models", "live", "--tools", "cached",
            "--weak", script(tmp_path / "weak.json", weak), "--strong", script(tmp_path / "strong.json", strong),
        )  # fmt: skip

    return given


def test_the_same_models_come_out_the_same_and_taint_the_result(line, episode, models):
    (item,) = line.items("replay", episode, *models())
    shown = line("replay", episode, *models())

    assert (item["result"], item["compared"], item["total"]) == ("same", 4, 4)
    assert (item["live_answers"], item["tainted"], item["normalised"]) == (7, True, [])
    assert "tainted: 7 live answers" in shown.stdout


def test_a_replay_from_the_record_is_not_tainted(line, episode):
    (item,) = line.items("replay", episode)

    assert (item["live_answers"], item["tainted"], item["cost_usd"], item["classes"]) == (0, False, None, None)


OTHER = [{"action": {"tool": "get_order", "arguments": {"order_id": "W999"}}}]


def test_what_is_not_recorded_stops_with_the_nearest_recorded_calls(line, episode, models):
    (item,) = line.items("replay", episode, *models(OTHER), code=1)
    shown = line("replay", episode, *models(OTHER))
    first = item["first_difference"]

    assert (item["result"], item["live_answers"]) == ("diverged", 1)
    assert first["found"] == 'get_order({"order_id": "W999"})'
    assert first["nearest"][0]["differs"] == ["/arguments/order_id"]
    assert ("Not recorded." in shown.stdout, "same up to 0 of 4 actions" in shown.stdout) == (True, True)


SPACED = json.loads(json.dumps(WEAK_SCRIPT).replace('"W200"', '" W200"', 2))


def test_a_call_written_otherwise_matches_only_when_lenient_and_is_named(line, episode, models):
    (strict,) = line.items("replay", episode, *models(SPACED), code=1)
    (lenient,) = line.items("replay", episode, *models(SPACED), "--lenient")

    assert "differs in outer space only, which --lenient lets match" in strict["first_difference"]["cause"]
    assert (lenient["result"], [one["rules"] for one in lenient["normalised"]]) == ("same", [["outer space"]])


def test_a_budget_refuses_nothing_that_is_free(line, episode, models):
    (item,) = line.items("replay", episode, *models(), "--max-cost-usd", "0")

    assert (item["result"], item["cost_usd"]) == ("same", "0")


def test_a_model_that_is_missing_is_asked_for(line, episode, tmp_path):
    result = line("replay", episode, "--models", "live", "--weak", script(tmp_path / "w.json", WEAK_SCRIPT))

    assert (result.exit_code, "needs a strong model" in result.stderr) == (2, True)


def test_a_model_that_no_protocol_asks_is_said(line, episode, models):
    assert line("replay", episode, *models(), "-o", "guesses=2").exit_code == 125


def test_several_at_once_share_the_models_and_keep_their_order(line, episode, models, tmp_path):
    store = open_store("spectrace.db")
    others = [recorded(store), recorded(store)]
    store.close()
    said = models()
    (tmp_path / "weak.json").write_text(json.dumps({"replies": OTHER, "repeat": True}))
    items = line.items("replay", "--all", *said, "--concurrency", "3", code=1)

    assert [(item["episode"], item["result"], item["live_answers"]) for item in items] == [
        (name, "diverged", 1) for name in (episode, *others)
    ]
