import pytest

from spectrace.core.events import TYPE_NUMBERS
from spectrace.store.upcasts import UPCASTS, upcast


def test_steps_are_taken_one_version_at_a_time():
    steps = {
        ("a.b", 1): lambda fields: {**fields, "path": [*fields["path"], 2]},
        ("a.b", 2): lambda fields: {**fields, "path": [*fields["path"], 3]},
    }

    assert upcast("a.b", 1, 3, {"path": [1]}, steps) == {"path": [1, 2, 3]}


def test_the_newest_version_is_left_alone():
    fields = {"seed": 1}

    assert upcast("reset.requested", 1, 1, fields) is fields


def test_a_missing_step_is_an_error():
    with pytest.raises(KeyError):
        upcast("a.b", 1, 2, {}, {})


@pytest.mark.parametrize("cls", TYPE_NUMBERS)
def test_every_older_version_has_its_step(cls):
    assert all((cls.TYPE, version) in UPCASTS for version in range(1, cls.VERSION))
