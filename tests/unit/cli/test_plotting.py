import sys

import pytest

from spectrace.audit.panels import Matrix
from spectrace.cli.plotting import Plot, as_png
from spectrace.errors import UsageError
from spectrace.store.sql import open_store
from tests.rejudged import judge_again, record_reviews

pytest.importorskip("matplotlib", reason="plots need spectrace[analysis]")

PANELS = [Matrix("Verdicts", "night", "recorded", "new", ("accept",), ("accept",), ((1,),))]


@pytest.fixture
def plot(tmp_path) -> Plot:
    return as_png(None, None, tmp_path / "figure.png")


def test_a_plot_is_written_whole_and_replaces_nothing_unasked(plot, line):
    plot.draw(PANELS, ("Title", ""), force=False)
    first = plot.target.read_bytes()

    with pytest.raises(UsageError, match="give --plot another name, or --force"):
        plot.require_room(force=False)
    plot.require_room(force=True)
    plot.draw(PANELS, ("Title", ""), force=True)
    assert plot.target.read_bytes() == first


def test_nothing_to_plot_is_said(plot):
    with pytest.raises(UsageError, match="nothing to plot"):
        plot.draw([], ("Title", ""), force=False)
    assert not plot.target.exists()


@pytest.fixture
def log(line, tmp_path):
    store = open_store(str(tmp_path / "spectrace.db"))
    judge_again(store, record_reviews(store, 3), "night")
    store.close()


def test_compare_draws_beside_what_it_prints(line, log, tmp_path):
    plain = line("compare", "night").stdout
    result = line("compare", "night", "--plot", "night.png")

    assert (result.exit_code, result.stdout, "Drawn: night.png" in result.stderr) == (0, plain, True)
    assert (tmp_path / "night.png").read_bytes().startswith(b"\x89PNG")


def test_protocols_are_drawn_too(line, log, tmp_path):
    assert line("compare", "first", "--plot", "first.png").exit_code == 0
    assert (tmp_path / "first.png").exists()


@pytest.mark.parametrize(
    ("given", "words"),
    [(["--plot", "night.pdf"], "does not end in .png"), (["--plot", "there.png"], "is there already")],
)
def test_what_cannot_be_drawn_is_refused_before_anything_is_read(line, tmp_path, given, words):
    (tmp_path / "there.png").write_bytes(b"")
    result = line("compare", "night", *given)  # there is no log

    assert (result.exit_code, result.stdout, words in result.stderr) == (2, "", True)


def test_without_matplotlib_compare_says_what_to_install(line, log, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "spectrace.audit.plots", raising=False)
    monkeypatch.delattr("spectrace.audit.plots", raising=False)
    result = line("compare", "night", "--plot", "night.png")

    assert (result.exit_code, "pip install 'spectrace[analysis]'" in result.stderr) == (2, True)
