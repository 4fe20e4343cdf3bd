"""Which process writes an episode, and whether it still lives.

A process is host, pid and a start mark. The mark (boot id and start time) keeps a reused pid, and another machine of
the same name, from passing for the writer.
"""

import os
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

_START_FIELD = 22 - 3
"""starttime in /proc/PID/stat, counted from after the command's closing bracket (proc(5))."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process as recorded with its episode; `started` is empty where the system does not say."""

    host: str
    pid: int
    started: str


def this_process() -> Process:
    """Return the running process."""
    return Process(socket.gethostname(), os.getpid(), _start_mark(os.getpid()))


def is_dead(process: Process, here: Process) -> bool:
    """Return whether the process is certainly gone; False where only its lease can tell."""
    boot, _, start = process.started.partition("/")
    if process.host != here.host or not start or boot != here.started.partition("/")[0]:
        return False
    return _start_mark(process.pid) != process.started


def _start_mark(pid: int) -> str:
    """Return `boot/start` of a live process, else an empty text."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return _start_mark_by_ps(pid)
    state, *rest = stat.rpartition(")")[2].split()
    return "" if state == "Z" else f"{boot}/{rest[_START_FIELD - 1]}"


def _start_mark_by_ps(pid: int) -> str:
    """Ask ps: macOS and the BSDs have no /proc."""
    if Path("/proc/self/stat").exists():
        return ""
    try:
        done = subprocess.run(  # noqa: S603 - fixed program, a number as its only variable part
            ["/bin/ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return f"/{done.stdout.strip()}" if done.stdout.strip() else ""
