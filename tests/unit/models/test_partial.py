import hashlib

import pytest

from spectrace.models.partial import Partial, sha256_of


def write(partial, *chunks):
    with partial:
        for chunk in chunks:
            partial.write(chunk)


def test_a_stream_goes_on_at_its_last_byte(tmp_path):
    target = tmp_path / "file"
    write(Partial(target, "hub", stream=True), b"abc")
    second = Partial(target, "hub", stream=True)

    write(second, b"def")
    second.become(target)

    assert target.read_bytes() == b"abcdef"
    assert second.sha256 == hashlib.sha256(b"abcdef").hexdigest() == sha256_of(target)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]


def test_an_interruption_keeps_whole_parts_and_cuts_off_the_rest(tmp_path):
    target = tmp_path / "file"
    first = Partial(target, "packages", stream=False)

    def interrupted():
        with first:
            first.write(b"one")
            first.part_done(1)
            first.write(b"tw")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    second = Partial(target, "packages", stream=False)
    with second:
        assert (second.parts, second.size) == (1, 3)
        second.write(b"two")

    assert second.path.read_bytes() == b"onetwo"
    assert second.sha256 == hashlib.sha256(b"onetwo").hexdigest()


def test_an_interruption_in_the_first_part_begins_again(tmp_path):
    target = tmp_path / "file"
    write(Partial(target, "packages", stream=False), b"on")
    second = Partial(target, "packages", stream=False)

    write(second, b"one")

    assert second.path.read_bytes() == b"one"


def test_each_source_keeps_its_own_place(tmp_path):
    write(Partial(tmp_path / "file", "hub", stream=True), b"abc")

    with Partial(tmp_path / "file", "packages", stream=False) as other:
        assert other.size == 0


def test_a_source_that_cannot_go_on_begins_again(tmp_path):
    target = tmp_path / "file"
    write(Partial(target, "hub", stream=True), b"abc")
    second = Partial(target, "hub", stream=True)
    with second:
        second.begin_again()
        second.write(b"xy")

    assert second.path.read_bytes() == b"xy"
    assert second.sha256 == hashlib.sha256(b"xy").hexdigest()


@pytest.mark.parametrize("note", ["", "{", "[]", '{"size": 99, "parts": 0}', '{"size": -1, "parts": 0}'])
def test_a_note_that_does_not_fit_the_file_is_ignored(tmp_path, note):
    target = tmp_path / "file"
    write(Partial(target, "hub", stream=True), b"abc")
    (tmp_path / "file.hub.part.json").write_text(note)

    with Partial(target, "hub", stream=True) as second:
        assert second.size == 0


def test_nothing_is_written_to_a_file_that_is_not_open(tmp_path):
    with pytest.raises(ValueError, match="not open"):
        Partial(tmp_path / "file", "hub", stream=True).write(b"x")
