import pytest

from spectrace.core.events import Event, ResetRequested, Unknown
from spectrace.core.versions import first_newer, is_foreign, is_newer, newer_version, require_readable
from spectrace.errors import NewerSchema

KNOWN = Event("ep", 1, "", 1, ResetRequested(seed=1))
ERASED = Event("ep", 2, "", 1, Unknown("reset.requested", 1, "null"))
FOREIGN = Event("ep", 3, "", 1, Unknown("later.kind", 9, "{}"))
NEWER = Event("ep", 4, "", 1, Unknown("reset.requested", 2, "{}"))


@pytest.mark.parametrize(
    ("event", "newer", "foreign"),
    [(KNOWN, False, False), (ERASED, False, False), (FOREIGN, False, True), (NEWER, True, False)],
)
def test_an_event_is_known_foreign_or_newer(event, newer, foreign):
    assert (is_newer(event), is_foreign(event)) == (newer, foreign)


@pytest.mark.parametrize("event", [KNOWN, ERASED, FOREIGN])
def test_what_is_not_newer_may_be_passed_over(event):
    require_readable(event)


def test_a_newer_version_is_refused_by_name_saying_what_to_do():
    with pytest.raises(NewerSchema) as said:
        require_readable(NEWER)

    assert str(said.value) == str(newer_version(NEWER))
    assert str(said.value) == (
        "event 4 of ep is reset.requested version 2; this spectrace knows version 1. Read it with the spectrace that "
        "wrote it (its version is in `spectrace show ep:0`), or a newer one."
    )


def test_the_first_newer_event_is_found():
    assert (first_newer([KNOWN, FOREIGN, NEWER]), first_newer([KNOWN, ERASED])) == (NEWER, None)
