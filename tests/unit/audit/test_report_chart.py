from collections import Counter

import pytest

from spectrace.audit.report_chart import WIDTH, by_time, shares
from spectrace.audit.report_figures import Span


def test_bars_of_a_day_stand_on_each_other_and_add_up_to_its_height():
    drawn = by_time("day", [Span("2026-12-01", Counter(ok=3, error=1)), Span("2026-12-02", Counter(ok=8))])

    assert [bar.says for bar in drawn.bars] == ["2026-12-01: 3 ok", "2026-12-01: 1 error", "2026-12-02: 8 ok"]
    below, above, other = drawn.bars
    assert above.y + above.height == pytest.approx(below.y, abs=0.2)
    assert (below.height + above.height) * 2 == pytest.approx(other.height, abs=0.2)
    assert drawn.kinds == ("ok", "error")
    assert drawn.says == "12 actions, from 2026-12-01 to 2026-12-02; at most 8 in one day."


@pytest.mark.parametrize("many", [1, 2, 9, 10, 62, 400])
def test_every_bar_and_every_label_lies_in_the_picture(many):
    drawn = by_time("day", [Span(f"day {n}", {"ok": n + 1, "an outcome of a newer version": 1}) for n in range(many)])

    assert all(bar.x >= 0 and bar.x + bar.width <= WIDTH and 0 <= bar.y <= drawn.height for bar in drawn.bars)
    assert all(0 <= label.x <= WIDTH and 0 <= label.y <= drawn.height for label in drawn.labels)
    assert len([label for label in drawn.labels if label.anchor == "middle"]) <= 10


@pytest.mark.parametrize(("most", "top"), [(1, 4), (4, 4), (5, 8), (10, 12), (41, 80), (1_000_000, 1_200_000)])
def test_the_scale_ends_with_a_round_number_that_is_not_below_the_highest_bar(most, top):
    drawn = by_time("day", [Span("a", {"ok": most})])

    assert [label.text for label in drawn.labels if label.anchor == "end"][-1] == f"{top:,}"


def test_shares_say_numbers_and_parts_of_the_whole():
    drawn = shares("authority", "By authority", {"verdict": 3, "repair": 1})

    assert [bar.says for bar in drawn.bars] == ["verdict: 3 (75.0 %)", "repair: 1 (25.0 %)"]
    assert drawn.bars[0].width == 3 * drawn.bars[1].width
    assert drawn.says == "verdict 3; repair 1; 4 in all."


def test_where_there_is_nothing_there_is_no_picture():
    assert (by_time("day", []), by_time("day", [Span("a", {})]), shares("a", "b", {})) == (None, None, None)
