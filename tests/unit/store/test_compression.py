import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectrace.errors import NewerSchema, StoreError
from spectrace.store.compression import CURRENT, DICTIONARY, RAW, ZSTD, dictionary, pack_blob, pack_body, unpack


@given(st.binary(max_size=2000) | st.sampled_from([b'{"a":"' + b"x" * 999 + b'"}']))
def test_any_bytes_come_back_equal(data):
    assert unpack(*pack_body(data)) == data
    assert unpack(*pack_blob(data)) == data


def test_the_dictionary_never_changes():
    assert (
        hashlib.sha256(dictionary(1)).hexdigest() == "0441e33cc5b831f9f473dd2bebcd5b32d603b323c415171b58a700c33dd3d943"
    )


def test_a_body_is_packed_with_the_current_dictionary():
    assert (
        pack_body(b'{"class":"reset.requested","seed":null,"latency_us":null,"source":"live"}')[0]
        == DICTIONARY + CURRENT
    )


def test_bytes_that_do_not_shrink_stay_raw():
    assert pack_body(b"{}") == (RAW, b"{}")


def test_a_blob_is_packed_without_a_dictionary():
    assert pack_blob(b"word " * 100)[0] == ZSTD


def test_a_dictionary_of_a_newer_spectrace_is_named():
    with pytest.raises(NewerSchema, match="dictionary 99"):
        unpack(DICTIONARY + 99, b"")


def test_damaged_bytes_are_refused():
    with pytest.raises(StoreError, match="altered or damaged"):
        unpack(ZSTD, b"nonsense")
