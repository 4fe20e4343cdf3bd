"""Which process writes an episode, and whether it still lives.

A process is host, pid and a start mark. The mark (boot id, pid namespace and start time) keeps a reused pid, another
machine of the same name, and a container that shares the machine's, from passing for the writer. Where it cannot be
told, a process is neither dead nor alive, and its lease decides.
"""

import getpass
import os
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

from spectrace.core.episode_events import StartedBy

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


def operator() -> StartedBy:
    """Return the operating system's word on who does it; a container may have no name for its user."""
    try:
        user = getpass.getuser()
    except (ImportError, KeyError, OSError):
        user = f"uid {os.getuid()}" if hasattr(os, "getuid") else "unknown"
    return StartedBy(user, socket.gethostname())


def is_dead(process: Process, here: Process) -> bool:
    """Return whether the process is certainly gone; False where only its lease can tell."""
    return _is_near(process, here) and _start_mark(process.pid) != process.started and not _is_hidden(process.pid)


def is_alive(process: Process, here: Process) -> bool:
    """Return whether the process certainly lives."""
    return _is_near(process, here) and _start_mark(process.pid) == process.started


def _is_near(process: Process, here: Process) -> bool:
    """Whether its pid means anything here: the same host, boot and pid namespace."""
    boot, _, start = process.started.partition("/")
    return process.host == here.host and bool(start) and boot == here.started.partition("/")[0]


def _is_hidden(pid: int) -> bool:
    """Whether a process of another user has this pid and shows no more than that (/proc mounted with hidepid)."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return not Path(f"/proc/{pid}/stat").exists()
    except (OSError, OverflowError):
        return False
    return False


def _start_mark(pid: int) -> str:
    """Return `boot.namespace/start` of a live process, else an empty text."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return _start_mark_by_ps(pid)
    state, *rest = stat.rpartition(")")[2].split()
    return "" if state == "Z" else f"{boot}{_namespace()}/{rest[_START_FIELD - 1]}"


def _namespace() -> str:
    """Return the pid namespace as `.4026531836`: containers on one machine share its boot id and often its name."""
    try:
        return f".{os.stat('/proc/self/ns/pid').st_ino}"  # noqa: PTH116 - a link into the kernel, to be followed
    except OSError:
        return ""


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
