"""Real disks to break: a tmpfs that fills up, a read-only mount, an ext4 image whose power is cut.

They need root and a kernel that lets it mount; where it does not, the tests are skipped and say so, and fail in CI.
"""

import fcntl
import os
import resource
import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_EXT4_SHUTDOWN = 0x8004587D
_NO_LOG_FLUSH = 2
"""What was not flushed is lost, as when the power goes (EXT4_IOC_SHUTDOWN, EXT4_GOING_FLAGS_NOLOGFLUSH)."""


def mount(*arguments: str) -> None:
    """Mount, or skip the test where that is not allowed."""
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        why = f"this machine does not let us mount: {done.stderr.strip()}"
        if os.environ.get("CI") == "true":
            pytest.fail(why)
        pytest.skip(why)


def unmount(folder: Path) -> None:
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def tmpfs(folder: Path, size: str) -> Iterator[Path]:
    """Lend a file system of that size in memory."""
    folder.mkdir()
    mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder))
    try:
        yield folder
    finally:
        unmount(folder)


def fill(folder: Path) -> Path:
    """Take all space that is left; return the file to delete."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return filler


def let_no_file_grow_over(size: int) -> None:
    """Have the kernel refuse this process every write beyond that offset of a file, as a quota does."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


class Ext4:
    """An ext4 file system in a file, whose power can be cut."""

    def __init__(self, image: Path, folder: Path) -> None:
        if shutil.which("mkfs.ext4") is None:
            pytest.skip("mkfs.ext4 (e2fsprogs) is not installed")
        self._image, self.folder = image, folder
        folder.mkdir()
        with image.open("wb") as file:
            file.truncate(32 << 20)
        subprocess.run(["mkfs.ext4", "-q", "-F", str(image)], check=True)
        self.mount()

    def mount(self) -> None:
        mount("-o", "loop", str(self._image), str(self.folder))

    def cut_power(self) -> None:
        """From now on every write fails; what was not flushed is gone when it is mounted again."""
        descriptor = os.open(self.folder, os.O_RDONLY)
        fcntl.ioctl(descriptor, _EXT4_SHUTDOWN, struct.pack("I", _NO_LOG_FLUSH))
        os.close(descriptor)

    def unmount(self) -> None:
        subprocess.run(["umount", str(self.folder)], check=True)
