"""The machine: what it is, keeping it awake, counting flushes, watching memory."""

import os
import platform
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import zstandard

_PACKAGES = ("sqlalchemy", "orjson", "zstandard", "psycopg", "cattrs")
_SPIN = "import os, time\nos.nice(19)\nbegun = time.time()\nwhile time.time() - begun < 600: pass"


def facts() -> list[tuple[str, str]]:
    """Return what the figures depend on, as (what, value)."""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in _PACKAGES)
    return [
        ("date", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
        ("spectrace", f"{metadata.version('spectrace')}, {_commit()}"),
        ("machine", f"{os.cpu_count()} x {_cpu()}, {platform.system()} {platform.release().split('-')[0]}"),
        ("load average when begun", f"{os.getloadavg()[0]:.1f}"),
        ("software", f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {versions}"),
        ("libzstd", ".".join(map(str, zstandard.ZSTD_VERSION))),
    ]


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _commit() -> str:
    git = shutil.which("git")
    if git is None:
        return "commit unknown"
    asked = [git, "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    told = subprocess.run(asked, capture_output=True, text=True, check=False)
    return f"commit {told.stdout.strip()}" if told.returncode == 0 else "commit unknown"


def peak_kilobytes() -> int:
    """Return the most memory that this process ever held.

    Not getrusage where there is /proc: on Linux its maximum begins with that of the process which started this one.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


@contextmanager
def awake() -> Iterator[None]:
    """Keep a virtual CPU from going idle: waking it costs 4 ms, which a flush of 0.2 ms would be charged with."""
    spinner = subprocess.Popen([sys.executable, "-c", _SPIN])
    try:
        yield
    finally:
        spinner.kill()
        spinner.wait()


def flushes(program: Sequence[str], trace: Path) -> int | None:
    """Run a program of ours and return how many flushes it made; None without strace."""
    strace = shutil.which("strace")
    if strace is None:
        return None
    traced = [strace, "-f", "-qq", "-e", "trace=fsync,fdatasync", "-o", str(trace), sys.executable, *program]
    subprocess.run(traced, check=True, stdout=subprocess.DEVNULL)
    return sum("sync(" in line for line in trace.read_text(encoding="utf-8").splitlines())
