"""A stored log of which something was erased, as version 0.1.0 exported it: it must be taken in and verify for good.

`0.1.0/erased.export` is what `export jsonl` wrote: an episode, one event of which was erased with what repeats it, one
of which everything was, and the administrative log that says so. It is never changed: its digest stands here.
"""

import hashlib

import pytest

from spectrace.audit.integrity import CONSISTENT, verify_episode
from spectrace.core.deeds import changes_state, deeds
from spectrace.core.events import AdminErased, Unknown
from spectrace.interchange.jsonl_export import export_jsonl
from spectrace.interchange.jsonl_import import import_jsonl
from spectrace.store.erasures import records
from spectrace.store.soundness import check
from spectrace.store.sql import open_store
from tests.golden.loader import HERE

FILE = HERE / "0.1.0" / "erased.export"
DIGEST = "d366b6077db1fb8e54b6a4e1bc06be21b63eaf02bb1c886a43167fb969572d8d"
PART, WHOLE = "97d3e456fe9adba8", "fa949d450d75c78e"


@pytest.fixture
def store(tmp_path):
    opened = open_store(str(tmp_path / "log.db"))
    import_jsonl(FILE, opened)
    yield opened
    opened.close()


def test_the_file_was_not_changed():
    assert hashlib.sha256(FILE.read_bytes()).hexdigest() == DIGEST


def test_all_of_it_verifies_and_the_database_is_sound(store, tmp_path):
    found = {name: verify_episode(store, name).result for name in (PART, WHOLE, *store.administrative())}

    assert set(found.values()) == {CONSISTENT}
    assert [one for one in check(str(tmp_path / "log.db")) if one.problem is not None] == []


def test_the_record_of_the_erasure_is_read(store):
    (found,) = records(store)

    assert isinstance(found.body, AdminErased)
    assert (found.body.person, found.body.reason, found.body.how) == ("Ann", "golden", "named")
    assert {part.episode for part in found.body.events} == {PART, WHOLE}


def test_the_deeds_are_told_from_headers(store):
    told = [deed for deed in deeds(list(store.read(WHOLE))) if changes_state(deed) and deed.requested_at is not None]

    assert all(isinstance(event.body, Unknown) for event in store.read(WHOLE))
    assert [(deed.seq, deed.tool, deed.outcome, deed.erased) for deed in told] == [
        (30, "cancel_order", "ok", True),
        (41, None, "ok", True),
    ]


def test_it_is_given_back_byte_for_byte(store, tmp_path):
    export_jsonl(store, [PART, WHOLE], tmp_path / "again.export")
    again, whole = ((path.read_bytes().splitlines()[1:]) for path in (tmp_path / "again.export", FILE))

    assert again == whole
