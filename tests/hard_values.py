"""Values that tools really return and logs really lose, the files of the cases beside them, and an episode of them."""

import asyncio
import dataclasses
import datetime as dt
import json
import math
import threading
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path

from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Action, Call, Finish
from spectrace.environments.functions import FunctionEnvironment, Task, tool
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.live import Recorded, record
from spectrace.store.event_store import EventStore
from tests.playbook import accept

CASES = Path(__file__).parent / "cases"


def case(name: str) -> bytes:
    """Return a case's file, e.g. `036-nul-byte/output.bin`."""
    return (CASES / name).read_bytes()


@dataclasses.dataclass
class Locked:
    """Holds what no text can hold."""

    name: str
    lock: object = dataclasses.field(default_factory=threading.Lock)


def nested(around, depth: int = 5000) -> object:
    """Return a value that many levels deep."""
    value: object = 0
    for _ in range(depth):
        value = around(value)
    return value


def cycle() -> object:
    """Return a list that contains itself."""
    endless: list[object] = [1]
    endless.append(endless)
    return endless


_SHARED = ["once"]

EXACT: dict[str, object] = {
    "nan": {"v": math.nan, "lo": -math.inf, "hi": math.inf, "a": [math.nan, 1]},
    "042-value": {"score": math.nan, "max": math.inf, "list": [-math.inf]},
    "042-text": case("042-nan-and-infinity/output.txt").decode(),
    "half": "x\ud835y",
    "half-key": {"\ud835": "x"},
    "two-halves": "\ud83d\ude00",
    "037-value": "bold \ud835 word",
    "037-text": case("037-lone-surrogate/output.json").decode(),
    "nul": "a\x00b",
    "nul-literal": "a\\u0000b",
    "036-bytes": case("036-nul-byte/output.bin"),
    "036-text": case("036-nul-byte/output.json").decode(),
    "040-text": case("040-integers-beyond-2-53/output.json").decode(),
    "043-text": case("043-float-layout-and-minus-zero/values.json").decode(),
    "043-layout": case("043-float-layout-and-minus-zero/same_values_other_layout.json").decode(),
    "numbers": [2**63, 2**64 + 1, 107505301260286111, 1e22, -0.0, 0.1 + 0.2, 1, 1.0, True],
    "deep-lists": nested(lambda value: [value]),
    "deep-dicts": nested(lambda value: {"a": value}),
    "digits": 10**4999 + 7,
    "shared": [_SHARED, _SHARED],
    "naive": dt.datetime(2026, 1, 2, 3, 4, 5, 6),  # noqa: DTZ001 - naive is the point
    "set": {"c", "a", "b"},
    "decimal": Decimal("1.10"),
    "nested-bytes": {"raw": b"ok \xff"},
    "039-a": case("039-invalid-utf8/output_a.bin"),
    "039-b": case("039-invalid-utf8/output_b.bin"),
    "039-gbk": case("039-invalid-utf8/output_gbk.bin"),
    "045-small": json.loads(case("045-image-as-text/small_image_block.json")),
    "doubled-keys": '{"a": 1, "a": 2}',
}
"""Name -> a value whose text says all of it."""

LOSSY: dict[str, tuple[object, tuple[str, ...]]] = {
    "cycle": (cycle(), ("$[1]",)),
    "locked": ({"item": [Locked("a")]}, ("$.item[0].lock",)),
    "object": (object(), ("$",)),
}
"""Name -> a value that cannot be told exactly, and where it cannot."""

VALUES: Mapping[str, object] = {**EXACT, **{name: value for name, (value, _) in LOSSY.items()}}
TASK = Task("hard", "Look at everything.")


@tool(effect="read")
def give(name: str) -> object:
    """Return a value."""
    return VALUES[name]


@tool(effect="write")
def put(state: list, value: object) -> object:
    """Keep a value and return it."""
    state.append(value)
    return value


def _nothing() -> list:
    return []


def open_desk() -> FunctionEnvironment:
    """Return an environment whose tools return and take such values."""
    return FunctionEnvironment.from_functions(
        "hard", [give, put], "Look.", reset=_nothing, tasks=[TASK], fingerprint=lambda state: state, restore="reset"
    )


def asked(*names: str) -> list[Action]:
    """Return the calls that look at values."""
    return [Call("give", json.dumps({"name": name})) for name in names]


def record_steps(store: EventStore, weak: Sequence[object], strong: Sequence[object] = (), **given: object) -> Recorded:
    """Record an episode of these drafts; the strong model says `strong` first, then accepts everything."""
    said = list(strong)
    task, calls = given.pop("task", TASK), given.pop("calls", "json")
    environment = given.pop("environment", None) or open_desk()
    clients = {
        "weak": ScriptedModel([*weak, Finish("done")], calls=calls),
        "strong": ScriptedModel(lambda _: said.pop(0) if said else accept(), name="strong"),
    }
    return asyncio.run(record(task, environment, clients, SpecAgent(k=100), store, **given))
