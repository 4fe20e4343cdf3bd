"""Notes, checkpoints and keys as texts; the example is the one that golang.org/x/mod/sumdb/note publishes."""

import base64

import metamorphic_log
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectrace.core import notes
from spectrace.core.notes import BadNote, Checkpoint, Key, Note, Signature

TEXT = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
NOTE = (
    f"{TEXT}\n— PeterNeumann "
    "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)
KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
PRIVATE = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
CHECKPOINT = Checkpoint("spectrace/admin-00", 3, bytes(range(32)), ("at 1764547200000000", "epoch admin-00"))
ROOT = base64.b64encode(bytes(32)).decode()

line = st.text(st.characters(min_codepoint=0x20, exclude_categories=["Cs"], exclude_characters="\x85\u2028\u2029"))


def test_the_published_note_is_read_and_written_again():
    note = notes.parse_note(NOTE)

    assert (note.text, [one.name for one in note.signatures], str(note)) == (TEXT, ["PeterNeumann"], NOTE)


def test_the_published_key_is_read_and_its_id_is_that_of_the_signature():
    key = notes.parse_key(KEY)

    assert (str(key), key.id) == (KEY, notes.parse_note(NOTE).signatures[0].key_id)


def test_the_published_secret_key_is_read_and_written_again():
    name, seed, said = notes.parse_secret(PRIVATE)

    assert (name, said.hex()) == ("PeterNeumann", "c74f20a3")
    assert notes.secret_text(notes.parse_key(KEY), seed) == PRIVATE


def test_a_secret_key_is_refused_as_a_public_one_and_not_repeated():
    with pytest.raises(BadNote, match="this is a secret key") as refused:
        notes.parse_key(PRIVATE)

    assert "AYEKFAL" not in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        TEXT,
        NOTE[:-1],
        NOTE.replace("\n\n", "\n"),
        NOTE.replace("— ", "- "),
        NOTE.replace("— PeterNeumann", "—  PeterNeumann"),
        NOTE.replace("PeterNeumann x08", "Peter+Neumann x08"),
        NOTE.replace("nAM=", "nAN="),
        NOTE.replace("nAM=", "nAM"),
        NOTE.replace("nAM=\n", "nAM=\n\n"),
        NOTE.replace("problem", "prob\tlem"),
        NOTE.replace("problem", "prob\rlem"),
        NOTE.replace("problem", "prob\ud800lem"),
        f"{TEXT}\n— PeterNeumann x08gow==\n",
        TEXT + "\n" + "— a AAAAAAA=\n" * 101,
        "x" * notes.MAX_BYTES + NOTE,
    ],
)
def test_what_is_no_signed_note_is_refused(text):
    with pytest.raises(BadNote):
        notes.parse_note(text)


@given(st.lists(line, min_size=1), st.lists(st.binary(min_size=1, max_size=80), min_size=1, max_size=4))
def test_every_note_is_read_as_it_was_written(lines, data):
    text = "".join(f"{one}\n" for one in lines)
    note = Note(text, tuple(Signature(f"key-{n}", b"\0\1\2\3", one) for n, one in enumerate(data)))

    assert notes.parse_note(str(note)) == note


def test_a_checkpoint_is_three_lines_and_what_follows():
    text = (
        f"spectrace/admin-00\n3\n{base64.b64encode(bytes(range(32))).decode()}\nat 1764547200000000\nepoch admin-00\n"
    )

    assert str(CHECKPOINT) == text
    assert notes.parse_checkpoint(text) == CHECKPOINT
    assert (CHECKPOINT.at, CHECKPOINT.extension("epoch"), CHECKPOINT.extension("more")) == (
        1764547200000000,
        "admin-00",
        None,
    )


def test_an_implementation_that_is_not_ours_reads_the_same_checkpoint():
    head = metamorphic_log.checkpoint_parse(str(CHECKPOINT))

    assert (head.origin, head.size, bytes(head.root)) == (CHECKPOINT.origin, CHECKPOINT.size, CHECKPOINT.root)


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"o\n3\n{ROOT}",
        f"o\n3\n{ROOT}\n\n",
        f"o\n03\n{ROOT}\n",
        f"o\n-3\n{ROOT}\n",
        f"o\n٣\n{ROOT}\n",
        f"o\n{'9' * 17}\n{ROOT}\n",
        f"\n3\n{ROOT}\n",
        f"o\n3\n{ROOT[:-4]}\n",
        f"o\n3\n {ROOT}\n",
        f"o\n3\n{ROOT.replace('=', '')}\n",
        "o\n3\n",
    ],
)
def test_what_is_no_checkpoint_is_refused(text):
    with pytest.raises(BadNote):
        notes.parse_checkpoint(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "name\\+id\\+base64"),
        (KEY[:-4], "32 bytes"),
        (KEY.replace("c74f20a3", "c74f20a4"), "altered or cut"),
        (KEY.replace("Peter", "Paul"), "altered or cut"),
        (KEY.replace("+A", "+B"), "later spectrace"),
        (KEY.replace("Neumann", " Neumann"), "white space"),
    ],
)
def test_what_is_no_key_is_refused_with_what_is_wrong(text, said):
    with pytest.raises(BadNote, match=said):
        notes.parse_key(text)


@pytest.mark.parametrize("text", [KEY, PRIVATE[:-4], PRIVATE.replace("+AY", "+BY")])
def test_what_is_no_secret_key_is_refused_and_not_repeated(text):
    with pytest.raises(BadNote) as refused:
        notes.parse_secret(text)

    assert "EKFAL" not in str(refused.value)


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\nb", "a\u00a0b", "a\x1b[8m"])
def test_a_name_that_no_key_may_have_is_refused(name):
    with pytest.raises(BadNote, match="visible characters"):
        notes.check_name(name)


def test_a_key_that_cosigns_has_another_id():
    key = Key("witness", notes.ED25519, bytes(range(32)))

    assert key.cosigner.id != key.id
    assert notes.parse_key(str(key.cosigner)) == key.cosigner


def test_a_second_signature_of_a_key_takes_the_place_of_its_first():
    first, other, second = (Signature(name, b"0123", data) for name, data in (("a", b"1"), ("b", b"1"), ("a", b"2")))

    assert Note("t\n", (first, other)).signed_by(second).signatures == (other, second)


def test_a_cosignature_is_its_time_and_the_signature():
    data = notes.cosignature(1764547200, bytes(64))

    assert notes.split_cosignature(data) == (1764547200, bytes(64))
    assert notes.cosigned_text("t\n", 1764547200) == b"cosignature/v1\ntime 1764547200\nt\n"


@pytest.mark.parametrize("data", [b"", bytes(64), bytes(73), b"\xff" * 72])
def test_what_is_no_cosignature_is_refused(data):
    with pytest.raises(BadNote):
        notes.split_cosignature(data)
