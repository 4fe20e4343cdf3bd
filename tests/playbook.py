"""The public playbook with the names and the desk that our own dialogues use."""

import json

from spectrace.core.prompts import Prompts
from spectrace.core.setup import Setup
from spectrace.core.types import Call, EnvironmentFacts, ModelFacts, Task
from spectrace.testing.desk import SCHEMA, TOOLS
from spectrace.testing.playbook import Playbook
from spectrace.testing.replies import accept, reject, written

__all__ = ["SCHEMA", "TOOLS", "Playbook", "accept", "change", "look", "reject", "setup", "written"]


def setup(*, calls: str = "json", replies: bool = False, finish: bool = True) -> Setup:
    """Return a small desk with two reads and a write, and two models."""
    models = tuple(ModelFacts(role, "scripted", role, calls=calls) for role in ("weak", "strong"))
    environment = EnvironmentFacts("desk", "tests", "1", replies=replies, finish=finish)
    return Setup(Task("t1", "Change A.", "{}"), environment, "Be careful.", TOOLS, Prompts(), models)


def look(id_: str = "A") -> Call:
    return Call("look", json.dumps({"id": id_}))


def change(id_: str = "A") -> Call:
    return Call("change", json.dumps({"id": id_}))
