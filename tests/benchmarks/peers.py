"""The peers: ../shared/bench's scripts, unchanged, each in a virtual environment of its own, installed on demand.

A script runs once a round as ../shared/bench's m4_headline does (ONLY names the cases, HEAD_ROUNDS=1), with its own
JSONL baseline beside it, through which the tables can be joined. A peer that cannot be installed is left out and named.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.benchmarks.rounds import progress
from tests.benchmarks.sources import cache

_SECONDS = 300
_LINE = re.compile(r"^(?P<name>.{52}) +(?P<rate>[\d,]+)/s  \[.*?\]  x[\d.]+ *(?P<rest>.*)$")
_FIGURE = re.compile(r"(\w+)=([\d.]+)")


@dataclass(frozen=True, slots=True)
class Peer:
    """A script, the cases of it that are run, and the packages that setup_venvs.sh installs for it."""

    name: str
    venv: str
    packages: tuple[str, ...]
    script: str
    only: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


_INSPECT = ("inspect-ai", "orjson", "zstandard", "openai")
PEERS = (
    Peer("inspect", "inspect", _INSPECT, "m4_inspect.py", "jsonl|1 event per txn|.eval recorder"),
    Peer("inspect end to end", "inspect", _INSPECT, "m4_inspect.py", "e2e eval", ("--e2e",)),
    Peer(
        "eventsourcing",
        "es",
        ("eventsourcing", "psycopg[binary,pool]", "orjson", "zstandard"),
        "m4_es.py",
        "jsonl|SQLite save/event|SQLite save/4",
    ),
    Peer("mlflow", "mlflow", ("mlflow", "orjson", "zstandard"), "m4_mlflow.py", "jsonl|sqlite sync naive"),
    Peer(
        "langgraph",
        "lg",
        ("langgraph", "langgraph-checkpoint-sqlite", "vcrpy", "requests", "orjson", "zstandard"),
        "m4_lg.py",
        "jsonl|put per agent|put NORMAL|graph nodes",
    ),
)
SIZES = {
    kind: Peer(
        f"inspect .eval, {kind}",
        "inspect",
        _INSPECT,
        "m4_inspect.py",
        ".eval recorder",
        environment={"NE": "100", "KIND": kind},
    )
    for kind in ("syn", "real")
}
"""Bytes of the same episodes as spectrace's own (numbers 100 to 199): one round, they do not vary."""


class Unavailable(Exception):
    """A peer cannot be run here; the text says why."""


def python(peer: Peer) -> Path:
    """Return the interpreter of the peer's environment, which is made if it is not there."""
    environment = cache() / "venvs" / peer.venv
    interpreter, done = environment / "bin" / "python", environment / "spectrace-bench-ready"
    if done.exists():
        return interpreter
    progress(f"installing {peer.packages[0]} into the cache")
    install = [str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *peer.packages]
    for command in ([sys.executable, "-m", "venv", str(environment)], install):
        told = subprocess.run(command, capture_output=True, text=True, check=False)
        if told.returncode != 0:
            last = (told.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise Unavailable(f"{peer.packages[0]} could not be installed: {last}")
    done.touch()
    return interpreter


def version(peer: Peer) -> str:
    """Return the peer's name and installed version."""
    asked = f"from importlib import metadata; print(metadata.version({peer.packages[0]!r}))"
    told = subprocess.run([str(python(peer)), "-c", asked], capture_output=True, text=True, check=True)
    return f"{peer.packages[0]} {told.stdout.strip()}"


def measure(peer: Peer, work: Path) -> dict[str, dict[str, float]]:
    """Run the peer's script for one round; return the figures of each case by its name."""
    environment = {**os.environ, **peer.environment, "ONLY": peer.only, "HEAD_ROUNDS": "1"}
    command = [str(python(peer)), peer.script, *peer.arguments]
    try:
        told = subprocess.run(
            command, cwd=work, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"{peer.script} did not end within {_SECONDS} s.") from error
    found = figures(told.stdout)
    if not found:
        last = (told.stderr.strip().splitlines() or ["it printed no figures"])[-1]
        raise Unavailable(f"{peer.script} failed ({told.returncode}): {last}")
    return found


def figures(printed: str) -> dict[str, dict[str, float]]:
    """Return what a script printed, by section and case: {"<section>: <case>": {"rate": ..., "p50": ...}}."""
    found: dict[str, dict[str, float]] = {}
    section = ""
    for line in printed.splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ")
        elif match := _LINE.match(line):
            rest = {name: float(value) for name, value in _FIGURE.findall(match["rest"])}
            found[f"{section}: {match['name'].strip()}"] = {"rate": float(match["rate"].replace(",", "")), **rest}
    return found


def case(peer: Peer, work: Path, missing: dict[str, str]) -> Callable[[], Mapping[str, Any]]:
    """Return the peer as a case of `rounds.interleaved`; one that fails is noted and not tried again."""

    def run() -> Mapping[str, Any]:
        if peer.name not in missing:
            try:
                return {"figures": measure(peer, work)}
            except Unavailable as error:
                missing[peer.name] = str(error)
                progress(f"left out: {error}")
        return {"figures": {}}

    return run
