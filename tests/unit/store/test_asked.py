import json

import pytest

from spectrace.store.asked import Grid, cells_asked, with_asked

GRID = Grid(("a", "b,\n"), 2, ("weak-only",))


def test_the_cells_are_tasks_times_trials_times_protocols():
    assert cells_asked(with_asked("{}", GRID)) == {
        ("a", 0, "weak-only"),
        ("a", 1, "weak-only"),
        ("b,\n", 0, "weak-only"),
        ("b,\n", 1, "weak-only"),
    }


def test_what_is_in_them_already_leaves_the_settings_as_they_are():
    settings = with_asked('{"env": "shop"}', GRID)

    assert with_asked(settings, Grid(("a",), 1, ("weak-only",))) == settings
    assert json.loads(settings)["env"] == "shop"


def test_several_grids_are_no_more_than_their_union():
    settings = with_asked(with_asked("{}", Grid(("a",), 1, ("x",))), Grid(("b",), 1, ("y",)))

    assert cells_asked(settings) == {("a", 0, "x"), ("b", 0, "y")}


@pytest.mark.parametrize(
    "asked", [None, 3, [None], [{"tasks": "a"}], [{"tasks": ["a"], "trials": 10**12, "protocols": ["x"]}]]
)
def test_settings_from_elsewhere_that_say_nothing_readable_ask_for_nothing(asked):
    assert cells_asked(json.dumps({"asked": asked})) == frozenset()


def test_settings_that_are_no_object_ask_for_nothing():
    assert cells_asked("[]") == frozenset()
