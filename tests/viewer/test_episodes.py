"""The list of episodes."""

import pytest

from spectrace.store.sql import open_store
from tests.viewer.conftest import Draw


def texts(page) -> str:
    return "\n".join(one.value for one in page.text)


def listed(page) -> list[str]:
    return list(page.dataframe[0].value["episode"])


def test_every_episode_is_listed_the_newest_first(draw: Draw, shop):
    log, ids = shop

    page = draw(log)

    assert listed(page) == [ids["broken"], ids["alone"], ids["rejected"]]


def test_a_row_says_how_the_episode_went(draw: Draw, shop):
    log, ids = shop

    row = draw(log).dataframe[0].value.set_index("episode").loc[ids["rejected"]]

    asked = ["end", "task", "env", "protocol", "segments", "reviews", "rejections", "unusable", "repairs", "writes"]
    assert list(row[asked]) == ["finished", "cancel-own", "shop", "specagent", 3, 3, 1, 0, 1, 1]
    assert (list(row["status"]), row["reward"], row["run"]) == (["completed"], 1.0, "nightly")
    assert row["cost"] == "0"  # scripts are free


def test_the_counts_are_those_of_the_rows(draw: Draw, shop):
    assert "3 episodes  ·  1 with rejections  ·  2 writes  ·  2 completed  ·  1 failed" in texts(draw(shop[0]))


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ({"rejected": "true"}, ["rejected"]),
        ({"status": "failed"}, ["broken"]),
        ({"protocol": "weak-only"}, ["alone"]),
        ({"run": "nightly"}, ["rejected"]),
        ({"task": "OWN"}, ["broken", "alone", "rejected"]),
        ({"status": ["failed", "completed"], "protocol": "specagent"}, ["broken", "rejected"]),
    ],
)
def test_filters_in_the_address_choose_the_rows(draw: Draw, shop, address, expected):
    log, ids = shop

    assert listed(draw(log, **address)) == [ids[name] for name in expected]


def test_a_filter_that_is_set_chooses_the_rows(draw: Draw, shop):
    page = draw(shop[0])

    page.toggle(key="rejected").set_value(True).run()

    assert listed(page) == [shop[1]["rejected"]]


def test_filters_that_nothing_passes_say_so(draw: Draw, shop):
    page = draw(shop[0], task="no such task")

    assert "No episode passes these filters." in texts(page)
    assert len(page.dataframe) == 0


def test_an_empty_log_says_how_to_fill_it(draw: Draw, tmp_path):
    open_store(str(tmp_path / "empty.db")).close()

    page = draw(tmp_path / "empty.db")

    assert "No episodes yet" in texts(page)
    assert [one.value for one in page.code] == ["spectrace demo"]
