from collections import Counter
from dataclasses import replace

import pytest

from spectrace.audit.report_figures import Figures, Span, day_of, spans
from spectrace.core.deeds import Deed, changes_state, own_deeds

DAY_US = 86_400_000_000
FIRST = 1_796_083_200_000_000  # 2026-12-01T00:00:00Z


@pytest.fixture
def ledger(store, episode) -> list[Deed]:
    return [deed for deed in own_deeds(store.read(episode)) if changes_state(deed)]


def counted(ledger) -> Figures:
    figures = Figures()
    for deed in ledger:
        figures.count(deed)
    return figures


def test_the_shops_episode_has_two_actions_that_ran_on_verdicts_and_one_that_never_did(ledger):
    figures = counted(ledger)

    assert (figures.total, figures.ran, figures.held) == (3, 2, 3)
    assert figures.by_outcome == {"ok": 2, "never": 1}
    assert figures.by_authority == {"verdict": 2}
    assert figures.by_tool == {"cancel_order": {"ok": 1, "never": 1}}
    assert figures.changed == {"yes": 1, "no": 1}
    assert figures.reviewers == {"scripted": 2}


def test_persons_and_actions_without_a_word_are_counted_by_who_and_as_none(ledger):
    sent = next(deed for deed in ledger if deed.requested_at is not None)
    edited = replace(sent, authority="person:Ana: the second", state_changed=None)
    nobody = replace(sent, authority=None, simulated=True, erased=True)
    figures = counted([edited, nobody])

    assert figures.persons == {"Ana: the second": 1}
    assert figures.by_authority == {"person": 1, "none": 1}
    assert (figures.simulated, figures.erased) == (1, 1)
    assert figures.changed == {"unknown": 1, "yes": 1}


@pytest.mark.parametrize(
    ("requested", "drafted", "day"),
    [
        (FIRST, FIRST - 1, "2026-12-01"),
        (None, FIRST - 1, "2026-11-30"),
        (FIRST + DAY_US - 1, None, "2026-12-01"),
        (None, None, "undated"),
        (1 << 62, None, "undated"),
        (-(1 << 62), None, "undated"),
    ],
)
def test_an_action_is_of_the_day_on_which_it_was_asked_or_else_drafted(ledger, requested, drafted, day):
    assert day_of(replace(ledger[0], requested_at=requested, drafted_at=drafted)) == day


def test_days_without_any_action_stand_between_those_with_some():
    found = spans({"2026-12-03": Counter(ok=1), "2026-12-01": Counter(never=2)})

    assert found == (
        "day",
        (Span("2026-12-01", {"never": 2}), Span("2026-12-02", {}), Span("2026-12-03", {"ok": 1})),
    )


@pytest.mark.parametrize(
    ("first", "last", "unit", "many", "names"),
    [
        ("2026-10-01", "2026-12-01", "day", 62, ("2026-10-01", "2026-12-01")),
        ("2026-09-30", "2026-12-01", "week", 10, ("2026-W40", "2026-W49")),
        ("2024-12-30", "2026-01-01", "week", 53, ("2025-W01", "2026-W01")),
        ("2021-11-30", "2026-12-01", "month", 62, ("2021-11", "2026-12")),
        ("2021-10-31", "2026-12-01", "year", 6, ("2021", "2026")),
        ("0001-01-01", "9999-12-31", "year", 2, ("0001", "9999")),
        ("9999-12-01", "9999-12-31", "day", 31, ("9999-12-01", "9999-12-31")),
    ],
)
def test_long_times_are_shown_by_week_month_or_year_and_nothing_is_lost(first, last, unit, many, names):
    found, all_spans = spans({first: Counter(ok=3), last: Counter(ok=4, error=1), "undated": Counter(never=5)})

    assert (found, len(all_spans)) == (unit, many + 1)
    assert (all_spans[0].name, all_spans[-2].name, all_spans[-1]) == (*names, Span("undated", {"never": 5}))
    assert sum(one.total for one in all_spans) == 13


def test_nothing_at_all_has_no_spans():
    assert spans({}) == ("day", ())
