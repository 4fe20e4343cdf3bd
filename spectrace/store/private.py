"""Files that are their owner's alone from the moment they are there, whatever the umask; and whether one is not.

A new SQLite file is 0600, and what SQLite lays beside it gets the file's own mode, our lock and backups too: who shares
a log with a group gives the file that mode, and all else follows. A mode that somebody gave is never changed.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path

PRIVATE = 0o600
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
_READ, _WRITE = stat.S_IRGRP | stat.S_IROTH, stat.S_IWGRP | stat.S_IWOTH


def make(path: Path) -> None:
    """Make an empty private file, unless something is there; what keeps it from being made, opening it will say."""
    with suppress(OSError):
        os.close(_made(path, PRIVATE))


def opened(path: Path, *, like: Path) -> int:
    """Open a file to read and write, made with the mode that another one has if it is not there."""
    try:
        return _made(path, _mode(like))
    except FileExistsError:
        return os.open(path, _FLAGS, PRIVATE)


def opener(name: str, flags: int) -> int:
    """Open a file for `open()`: a new one is private."""
    return os.open(name, flags, PRIVATE)


def exposed(path: Path) -> tuple[str | None, str | None]:
    """Return what is wrong with who may write the file, and what is worth knowing of who may read it."""
    if os.name == "nt":
        return None, None
    beside = [path.with_name(path.name + end) for end in ("", "-wal", "-shm", ".lock")]
    modes = {one.name: one.stat().st_mode for one in beside if one.is_file()}
    own = modes.get(path.name)  # what lies beside it is named where it differs
    modes = {name: mode for name, mode in modes.items() if name == path.name or mode != own}
    folder = path.parent.stat().st_mode
    writable = [f"{name} ({mode & 0o777:o})" for name, mode in modes.items() if mode & stat.S_IWOTH]
    if folder & stat.S_IWOTH and not folder & stat.S_ISVTX:
        writable.append(f"the directory {path.parent} ({folder & 0o777:o})")
    if writable:
        return f"anybody on this machine may write {', '.join(writable)}: chmod o-w takes that away", None
    shared = [f"{name} ({mode & 0o777:o})" for name, mode in modes.items() if mode & (_READ | _WRITE)]
    if not shared:
        return None, None
    verb = "read and write" if any(mode & _WRITE for mode in modes.values()) else "read"
    return None, f"others than its owner may {verb} {', '.join(shared)}; chmod 600 if they should not"


def _made(path: Path, mode: int) -> int:
    descriptor = os.open(path, _FLAGS | os.O_EXCL, PRIVATE)
    if os.name != "nt":
        os.fchmod(descriptor, mode)  # the umask may have taken more
    return descriptor


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode & 0o666
    except FileNotFoundError:
        return PRIVATE
