"""A desk whose every call is counted: two reads, a write, an outside party, and a read that is none."""

import json
from dataclasses import dataclass, field

from spectrace.core.types import Action, Call
from spectrace.environments.functions import FunctionEnvironment, Task, tool

IDS = ("A", "B")


@dataclass
class State:
    """What the desk holds; `calls` is no part of it."""

    changed: dict[str, int] = field(default_factory=lambda: dict.fromkeys(IDS, 0))
    peeked: int = 0


def open_desk(calls: list[Call]) -> FunctionEnvironment:
    """Return the desk for one episode; it adds every call that it gets to `calls`."""

    def heard(name: str, id_: str) -> None:
        calls.append(Call(name, json.dumps({"id": id_})))

    @tool(effect="read")
    def look(state: State, id: str) -> str:  # noqa: A002 - as the models know it
        """Look a thing up."""
        heard("look", id)
        return f"{id} was changed {state.changed[id]} times"

    @tool(effect="read", external=True)
    def search(state: State, id: str) -> str:  # noqa: A002
        """Ask an outside party."""
        heard("search", id)
        return "nothing"

    @tool(effect="read")
    def peek(state: State, id: str) -> str:  # noqa: A002
        """Look a thing up, and leave a mark."""
        heard("peek", id)
        state.peeked += 1
        return f"{id} was peeked at"

    @tool(effect="write")
    def change(state: State, id: str) -> str:  # noqa: A002
        """Change a thing."""
        heard("change", id)
        state.changed[id] += 1
        return f"{id} is changed"

    return FunctionEnvironment.from_functions(
        "desk",
        (look, search, peek, change),
        "Be careful.",
        reset=State,
        tasks=(Task("t1", "Change A.", grade=lambda state: state.changed["A"] > 0),),
        fingerprint=lambda state: {"changed": state.changed, "peeked": state.peeked},
        restore="reset",
        clock="none",
    )


def at(tool_name: str, id_: str = "A") -> Action:
    """Return a call of one of its tools."""
    return Call(tool_name, json.dumps({"id": id_}))
