import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectrace.errors import StoreError
from spectrace.store.blobs import TextReferences, digest_bytes, references
from tests.stored_episodes import resolved

ANY_TEXT = st.text(st.characters(), max_size=400) | st.text(st.sampled_from("a\0\ud800\udfffé🙂"), max_size=300)


def by_name(texts: TextReferences) -> dict[str, bytes]:
    return {f"sha256:{digest.hex()}": data for digest, data in texts.take().blobs.items()}


@given(ANY_TEXT)
def test_any_text_comes_back_exactly(text):
    texts = TextReferences()

    assert resolved([texts.refer(text)], by_name(texts)) == [text]


@pytest.mark.parametrize("text", ["x" * 255, "é" * 127, "", "\0"])
def test_a_short_text_stays_in_its_body(text):
    assert TextReferences().refer(text) == text


@pytest.mark.parametrize("text", ["x" * 256, "é" * 128])
def test_256_bytes_are_a_blob(text):
    digest = f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"

    assert TextReferences().refer(text) == {"$blob": digest}


def test_a_lone_surrogate_is_a_wtf8_blob_whatever_its_length():
    digest = "sha256:" + hashlib.sha256(b"\xed\xa0\x80").hexdigest()

    assert TextReferences().refer("\ud800") == {"$blob": digest, "codec": "wtf-8"}


def test_a_text_that_an_episode_committed_is_not_sent_again():
    texts, sent = TextReferences(), set()
    texts.begin(sent)
    texts.refer("x" * 300)
    texts.take().committed()
    texts.begin(sent)
    texts.refer("x" * 300)

    assert texts.take().blobs == {}


def test_a_text_that_another_episode_committed_is_sent_again_for_it_may_be_erased_by_now():
    texts = TextReferences()
    texts.begin(set())
    texts.refer("x" * 300)
    texts.take().committed()
    texts.begin(set())
    texts.refer("x" * 300)

    assert list(texts.take().blobs.values()) == [b"x" * 300]


def test_a_text_is_sent_again_after_a_rollback():
    texts, sent = TextReferences(), set()
    texts.begin(sent)
    texts.refer("x" * 300)
    texts.take()
    texts.begin(sent)
    texts.refer("x" * 300)

    assert list(texts.take().blobs.values()) == [b"x" * 300]


def test_a_rollback_forgets_nothing_that_was_committed_before():
    texts, sent = TextReferences(), set()
    for text, committed in (("x" * 300, True), ("y" * 300, False)):
        texts.begin(sent)
        texts.refer(text)
        fresh = texts.take()
        if committed:
            fresh.committed()
    texts.begin(sent)
    texts.refer("x" * 300)

    assert texts.take().blobs == {}


def test_remembered_texts_are_bounded():
    texts = TextReferences(capacity_chars=1000)
    for letter in "abcdef":
        texts.refer(letter * 300)

    assert texts._size <= 1000
    assert texts.refer("a" * 300) == TextReferences().refer("a" * 300)


def test_a_missing_blob_is_named():
    with pytest.raises(StoreError, match=r"blob sha256:0+ is missing"):
        resolved({"$blob": "sha256:" + "0" * 64}, {})


def test_an_altered_blob_is_refused():
    digest = "sha256:" + hashlib.sha256(b"said").hexdigest()

    with pytest.raises(StoreError, match="holds other bytes than its name says"):
        resolved({"$blob": digest}, {digest: b"sold"})


def test_a_reference_to_text_that_is_none_is_refused():
    digest = "sha256:" + hashlib.sha256(b"\xff").hexdigest()

    with pytest.raises(StoreError, match="referred to as utf-8 text but is not"):
        resolved({"$blob": digest}, {digest: b"\xff"})


def test_references_are_found_at_any_depth():
    value = {"a": [{"$blob": "sha256:1"}, {"b": {"$blob": "sha256:2", "codec": "wtf-8"}}], "c": "sha256:3"}

    assert list(references(value)) == ["sha256:1", "sha256:2"]


@pytest.mark.parametrize("digest", ["", "md5:00", "sha256:", "sha256:zz", "sha256:" + "0" * 63])
def test_what_is_no_digest_is_refused(digest):
    with pytest.raises(StoreError, match="a digest is"):
        digest_bytes(digest)
