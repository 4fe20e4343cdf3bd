import re
import struct
import sys
from pathlib import Path

import pytest

from spectrace.audit.panels import Curve, Curves, Forest, Mark, Matrix
from spectrace.errors import UsageError
from spectrace.stats.estimates import Estimate
from spectrace.stats.survival import Point

pytest.importorskip("matplotlib", reason="plots need spectrace[analysis]")

from spectrace.audit import plots

HOSTILE = "$\\frac{1}{0}$ \x1b[31m\u202e 名 \ud835 <b>" + "x" * 300


def estimate(value, low=None, high=None):
    return Estimate(value=value, low=low, high=high, n=20, clusters=12, method="m")


def forest(name="night", series=3):
    marks = [
        Mark(row, f"{name} {n}", 0.5, *ends, bounds, "0.500")
        for row in ("agreement", name)
        for n in range(series)
        for ends, bounds in [((None, None), None) if n else ((0.4, 0.6), (0.3, 0.7))]
    ]
    return Forest(name, "share", tuple(marks), tuple(f"{name} {n}" for n in range(series)), 0, 1, 0.5)


def curves(name="night", n=2):
    points = tuple(Point(number, 20, 1, estimate(1 / number, 0.1, 0.9)) for number in range(1, 20))
    harsh = tuple(Point(number, 20, 1, estimate(0.5 / number)) for number in range(1, 20))
    return Curves(name, "review", tuple(Curve(f"{name} {each}", points, harsh) for each in range(n)))


def matrix(name="night"):
    return Matrix("Verdicts", name, "recorded", name, ("accept", "reject"), ("accept", name), ((3, 0), (1, 2)))


def chunks(data):
    """The kinds of a PNG's chunks."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, kinds = 8, []
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kinds.append(data[at + 4 : at + 8].decode())
        at += 12 + length
    return kinds


def size(data):
    return struct.unpack(">II", data[16:24])


EVERYTHING = [forest(series=2), curves(n=1), matrix()]


def test_the_same_panels_give_the_same_bytes_without_a_time_or_a_program_in_them():
    first, second = (plots.png(EVERYTHING, "Title", "below") for _ in range(2))

    assert first == second
    assert set(chunks(first)) <= {"IHDR", "pHYs", "IDAT", "IEND"}


def test_the_user_s_own_style_changes_nothing():
    import matplotlib as mpl

    plain = plots.png([matrix()], "Title")
    with mpl.rc_context({"font.size": 20, "lines.linewidth": 9, "text.usetex": False, "axes.facecolor": "red"}):
        styled = plots.png([matrix()], "Title")

    assert styled == plain


def test_other_figures_give_another_picture():
    assert plots.png([matrix()], "Title") != plots.png([matrix("day")], "Title")


@pytest.mark.parametrize(
    "panels", [[forest()], [curves()], [matrix()], [forest(), forest("day")], [curves(n=1), matrix()]], ids=len
)
def test_whatever_panels_there_are_fill_their_picture(panels):
    wide, high = size(plots.png(panels, "Title"))

    assert wide > 800
    assert high > 400


def test_hostile_names_are_drawn_as_text_and_warn_of_nothing():
    data = plots.png([forest(HOSTILE), curves(HOSTILE), matrix(HOSTILE)], HOSTILE, HOSTILE)

    assert size(data)[0] < 4000


def test_what_the_font_cannot_draw_is_spelled_out():
    assert plots._shown("κ é 名 \ud835", 80) == "κ é \\u540d \\ud835"
    assert plots._shown("x" * 100, 34) == "x" * 33 + "…"


def test_matplotlib_is_imported_in_one_module():
    root = Path(plots.__file__).resolve().parents[2]
    importing = {
        path.relative_to(root).as_posix()
        for folder in ("spectrace", "viewer")
        for path in (root / folder).rglob("*.py")
        if re.search(r"^\s*(import|from) matplotlib", path.read_text(), re.MULTILINE)
    }

    assert importing == {"spectrace/audit/plots.py"}


def test_without_matplotlib_the_hint_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "spectrace.audit.plots")

    with pytest.raises(UsageError, match=r"pip install 'spectrace\[analysis\]'"):
        __import__("spectrace.audit.plots")
