"""How long recordings are kept."""

import pytest

from spectrace.errors import UsageError
from spectrace.store.retention import Retention, read_retention

DAY = 86_400_000_000


def test_days_and_those_of_projects_are_read():
    found = read_retention({"days": 90, "projects": {"support": 30, "research": 0}}, "spectrace.toml")

    assert found == Retention(90, {"support": 30, "research": None})
    assert found.is_set


def test_without_days_nothing_is_ever_erased():
    assert not read_retention({}, "spectrace.toml").is_set
    assert not read_retention({"projects": {"research": 0}}, "spectrace.toml").is_set


def test_what_is_over_is_told_in_times():
    due = Retention(90, {"support": 30, "research": None}).due(100 * DAY)

    assert (due.at, due.projects, due.how) == (10 * DAY, {"support": 70 * DAY, "research": None}, "retention")


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"day": 3}, "retention.day is not known. Known: days, projects"),
        ({"days": "3"}, "retention.days is a whole number of days"),
        ({"days": True}, "retention.days is a whole number of days"),
        ({"days": -1}, "retention.days is a whole number of days"),
        ({"projects": 3}, "retention.projects is a table"),
        ({"projects": {"a": 1.5}}, "retention.projects.a is a whole number of days"),
    ],
)
def test_what_is_wrong_is_named(table, words):
    with pytest.raises(UsageError, match=words):
        read_retention(table, "spectrace.toml")
