from dataclasses import replace

import pytest

from spectrace.cli import run_report
from spectrace.core.baselines import WeakOnly
from spectrace.core.types import Outcome
from spectrace.environments.shop import open_shop
from spectrace.errors import ModelFailed
from spectrace.runs.batch import NotRecorded, cells
from spectrace.runs.live import Recorded

CELLS = cells(open_shop().tasks(), [WeakOnly()], 2)


def ended(cell):
    return Recorded(
        "0" * 16, cell.task.id, cell.trial, Outcome("completed", "finished", reward="1.0"), protocol="weak-only"
    )


def test_episodes_are_told_in_the_order_of_their_cells():
    told = run_report.in_order(CELLS, [ended(CELLS[3]), ended(CELLS[1]), ended(CELLS[2])])

    assert [(one.task, one.trial) for one in told] == [(cell.task.id, cell.trial) for cell in CELLS[1:4]]


def test_a_row_says_the_protocol_and_how_it_ended(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    run_report.show([ended(CELLS[0]), NotRecorded("t", 1, ModelFailed("server", "x"), "weak-only")])
    head, _, first, second = capsys.readouterr().out.splitlines()

    assert "protocol" in head
    assert first.split()[1:6] == ["cancel-own", "0", "weak-only", "completed", "finished"]
    assert second.split()[:6] == ["-", "t", "1", "weak-only", "not", "recorded"]


@pytest.mark.parametrize(
    ("reason", "reward"), [("tokens_unknown", None), ("run_max_wall_s", None), ("max_steps", "0.0")]
)
def test_an_episode_that_is_left_out_of_scores_shows_no_reward(reason, reward):
    one = replace(ended(CELLS[0]), outcome=Outcome("truncated", reason, reward="0.0"))

    assert run_report.item(one)["reward"] == reward


def test_what_is_left_is_named_up_to_ten_and_counted(capsys):
    run_report.say_left(CELLS[11:], None)

    assert capsys.readouterr().err == (
        "Left undone: 13 episodes: voucher-second (weak-only), cancel-own #1 (weak-only), "
        "cancel-foreign #1 (weak-only), cancel-shipped #1 (weak-only), "
        "cancel-by-item #1 (weak-only), address-open #1 (weak-only), "
        "address-shipped #1 (weak-only), refund-small #1 (weak-only), refund-needs-return #1 (weak-only), "
        "refund-returned #1 (weak-only) and 3 more.\n"
    )


def test_why_a_run_stopped_is_said_in_words(capsys):
    uncounted = "Stopped: a server did not count its tokens, so nobody can keep to a limit of"
    instead = (
        "or use a model whose server counts them (in a script: `usage`); with another -o or model, a named run needs "
        "another --name."
    )
    for stopped in ("run_max_cost_usd", "run_max_wall_s", "cost_unknown", "tokens_unknown", "the weak model failed"):
        run_report.say_left([], stopped)

    assert capsys.readouterr().err.splitlines() == [
        "Stopped: the run has cost what --max-cost-usd allows, all that its name was given together.",
        "Stopped: the run has taken what --max-wall-s allows.",
        f"{uncounted} money. Drop --max-cost-usd or -o max_cost_usd, {instead}",
        f"{uncounted} tokens. Drop -o max_tokens, {instead}",
        "Stopped: the weak model failed.",
    ]


def test_how_to_go_on_is_said_with_and_without_a_name(capsys):
    run_report.say_how_to_go_on("n")
    run_report.say_how_to_go_on(None)

    assert capsys.readouterr().err.splitlines() == [
        "The same command with --name 'n' goes on where it stopped.",
        "A run that has a --name goes on where it stopped; this one had none.",
    ]
