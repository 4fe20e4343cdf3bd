import json

import pytest

from spectrace.audit.queries import open_reader
from spectrace.audit.report import Wanted, report
from spectrace.audit.report_numbers import most_first, numbers, utc
from spectrace.store.sql import open_store
from tests.shop_log import recorded


@pytest.fixture
def found(tmp_path):
    url = str(tmp_path / "log.db")
    store = open_store(url)
    recorded(store)
    store.close()
    wanted = Wanted(title="t", url=url, selection="the whole log", between=(0, None), rows=1)
    with open_reader(url) as reader, report(reader, wanted) as made:
        return numbers(made)


def test_the_numbers_are_json_and_say_of_what_they_are(found):
    assert json.loads(json.dumps(found))["actions"] == found["actions"]
    assert (found["selection"], found["since"], found["until"]) == (
        "the whole log",
        "1970-01-01T00:00:00.000000Z",
        None,
    )
    assert [one["name"] for one in found["log"]["files"]] == ["log.db"]
    assert found["checkpoint"] is None


def test_what_they_count_adds_up(found):
    actions = found["actions"]

    assert (actions["total"], actions["ran"], actions["never"]) == (3, 2, 1)
    for part in ("by_outcome", "by_effect", "by_kind"):
        assert sum(actions[part].values()) == actions["total"]
    for part in ("by_authority", "state_changed"):
        assert sum(actions[part].values()) == actions["ran"]
    assert sum(sum(v for k, v in one.items() if k != "name") for one in actions["by_time"]["spans"]) == 3
    assert found["rows"] == {"most": 1, "ran_left_out": 1, "never_left_out": 0}
    assert found["verify"] == {"total": 2, "by_result": {"consistent": 2}}


def test_the_greatest_comes_first_and_equal_ones_by_name():
    assert list(most_first({"b": 1, "a": 1, "c": 2})) == ["c", "a", "b"]


@pytest.mark.parametrize(
    ("at", "said"),
    [
        (None, None),
        (0, "1970-01-01T00:00:00.000000Z"),
        (1_796_083_200_000_001, "2026-12-01T00:00:00.000001Z"),
        (-1, "1969-12-31T23:59:59.999999Z"),
        (1 << 62, f"{1 << 62} µs"),
    ],
)
def test_a_time_that_no_calendar_has_is_the_number_that_it_is(at, said):
    assert utc(at) == said
