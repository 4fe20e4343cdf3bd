import base64
from dataclasses import replace

import pytest

from spectrace.audit import checkpoint_files, signing
from spectrace.audit.answers import Filters
from spectrace.audit.checkpoints import Created, create
from spectrace.audit.proving import trusted
from spectrace.audit.queries import Reader, open_reader
from spectrace.audit.report_proof import SignatureLine, Trust, verify, witness
from spectrace.errors import UsageError
from spectrace.store.memory import MemoryEventStore
from spectrace.store.sql import open_store
from tests.damage import past_the_triggers
from tests.shop_log import recorded
from tests.tampering.forgery import remove


@pytest.fixture
def signed(tmp_path):
    """A log with one episode, a checkpoint of it and the key that signed; then another episode."""
    store = open_store(str(tmp_path / "log.db"))
    first = recorded(store)
    key = signing.make_key("example.org/log", tmp_path / "key")
    made = create(store, signing.read_signer(tmp_path / "key"), tmp_path / "checkpoint")
    assert isinstance(made, Created)
    second = recorded(store)
    store.close()
    return tmp_path, key, (first, second), made


def trust(path, key, *cosigners):
    file = path / "checkpoint"
    return Trust(file, key, cosigners, trusted(file, key, cosigners))


def results(path, episodes, held, url=None):
    with open_reader(str(path / "log.db")) as reader:
        found = verify(reader, episodes, held, url, lambda *_: None)
    return {one.episode: one.result for one in found}


def test_what_was_signed_is_valid_what_is_newer_consistent(signed):
    path, key, (first, second), _ = signed

    assert results(path, [first, second], trust(path, key)) == {first: "valid", second: "consistent"}
    assert results(path, [first, second], None) == {first: "consistent", second: "consistent"}


def test_a_whole_log_is_compared_as_verify_all_does_it(signed):
    path, key, ids, _ = signed
    found = results(path, ids, trust(path, key), str(path / "log.db"))

    assert {found[ids[0]], found[ids[1]]} == {"valid", "consistent"}
    assert [name for name in found if name.startswith("admin-")]


def test_a_key_that_did_not_sign_leaves_everything_unknown_and_the_page_is_told_why(signed):
    path, _, ids, _ = signed
    other = signing.make_key("example.org/other", path / "other")
    held = trust(path, other)

    assert set(results(path, ids, held).values()) == {"unknown"}
    assert witness(held).note == ""
    assert "not signed by example.org/other" in witness(held).problem


def test_the_page_is_given_the_exact_text_the_leaves_and_who_signed(signed):
    path, key, _, made = signed
    found = witness(trust(path, key))

    assert found.note == (path / "checkpoint").read_text()
    assert base64.b64decode(found.root) == made.checkpoint.root
    assert b"".join(b"%b\n" % leaf for leaf in found.leaves) == (path / "checkpoint.leaves").read_bytes()
    assert found.signatures == (SignatureLine("example.org/log", key.id.hex(), trusted=True),)
    assert (found.size, found.problem, found.without_leaves) == (made.checkpoint.size, None, None)


def test_without_the_leaves_the_reason_is_said(signed):
    path, key, _, _ = signed
    checkpoint_files.leaves_file(path / "checkpoint").unlink()
    found = witness(trust(path, key))

    assert (found.leaves, found.without_leaves) == ((), "checkpoint.leaves is not there")


def test_a_log_in_memory_has_no_checkpoint_to_be_compared_with(signed):
    path, key, _, _ = signed
    with pytest.raises(UsageError, match="lies in memory"):
        verify(Reader(MemoryEventStore()), [], trust(path, key), None, lambda *_: None)


def test_what_the_checkpoint_has_and_filters_cannot_show_any_more_is_among_the_results(signed):
    path, key, (first, second), _ = signed
    with past_the_triggers(f"sqlite:///{path / 'log.db'}") as connection:
        remove(connection, first)
        connection.commit()
    with open_reader(str(path / "log.db")) as reader:
        found = verify(reader, [second], trust(path, key), None, lambda *_: None, Filters(since=1))
        named = verify(reader, [second], trust(path, key), None, lambda *_: None)

    assert {one.episode: one.result for one in found} == {first: "invalid", second: "consistent"}
    assert [one.episode for one in named] == [second]


def test_a_checkpoint_that_was_signed_by_force_is_a_result_of_its_own(signed, tmp_path):
    path, key, (first, _), made = signed
    extensions = (*made.checkpoint.extensions, "forced 1 not verified")
    note = signing.read_signer(tmp_path / "key").sign(str(replace(made.checkpoint, extensions=extensions)))
    checkpoint_files.write_note(path / "checkpoint", note)

    assert results(path, [first], trust(path, key)) == {first: "valid", "checkpoint": "unknown"}
