"""The public playbook with the names and the desk that our own dialogues use."""

import json

from spectrace.core.types import Call
from spectrace.testing.desk import SCHEMA, TOOLS, setup
from spectrace.testing.playbook import Playbook
from spectrace.testing.replies import accept, reject, written

__all__ = ["SCHEMA", "TOOLS", "Playbook", "accept", "change", "look", "reject", "setup", "written"]


def look(id_: str = "A") -> Call:
    return Call("look", json.dumps({"id": id_}))


def change(id_: str = "A") -> Call:
    return Call("change", json.dumps({"id": id_}))
