import pytest

from spectrace.core.events import TYPE_NUMBERS
from spectrace.store.upcasts import UPCASTS, Step, newest, upcast


def walked(number):
    return lambda fields: {**fields, "path": [*fields["path"], number]}


STEPS = {
    ("a.b", 1): Step("a.b", 2, walked(2)),
    ("a.b", 2): Step("c.d", 3, walked(3)),
    ("c.d", 3): Step("c.d", 4, walked(4)),
}


@pytest.mark.parametrize(
    ("type_", "version", "path"),
    [("a.b", 1, [2, 3, 4]), ("a.b", 2, [3, 4]), ("c.d", 3, [4]), ("c.d", 4, []), ("e.f", 1, [])],
)
def test_steps_are_taken_one_after_the_other_over_a_rename(type_, version, path):
    assert upcast(type_, version, {"path": []}, STEPS) == {"path": path}


@pytest.mark.parametrize(
    ("type_", "version", "found"),
    [("a.b", 1, ("c.d", 4)), ("c.d", 4, ("c.d", 4)), ("a.b", 3, ("a.b", 3)), ("e.f", 1, ("e.f", 1))],
)
def test_an_event_is_read_as_what_its_last_step_leads_to(type_, version, found):
    assert newest(type_, version, STEPS) == found


def test_the_newest_version_is_left_alone():
    fields = {"seed": 1}

    assert upcast("reset.requested", 1, fields) is fields


@pytest.mark.parametrize("cls", TYPE_NUMBERS, ids=lambda cls: cls.TYPE)
def test_every_older_version_leads_to_the_newest(cls):
    assert {newest(cls.TYPE, version) for version in range(1, cls.VERSION + 1)} == {(cls.TYPE, cls.VERSION)}


def test_every_step_leads_to_a_class():
    assert {newest(*old) for old in UPCASTS} <= {(cls.TYPE, cls.VERSION) for cls in TYPE_NUMBERS}


def test_an_old_start_recorded_neither_prices_nor_how_many_ran_at_once():
    old = {"models": [{"role": "weak"}, {"role": "strong"}], "seed": 1}

    assert upcast("episode.started", 1, old) == {
        "models": [{"role": "weak", "price": None}, {"role": "strong", "price": None}],
        "seed": 1,
        "concurrency": None,
    }
    assert old["models"] == [{"role": "weak"}, {"role": "strong"}]
