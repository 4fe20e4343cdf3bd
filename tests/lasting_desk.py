"""A desk whose state is a real SQLite file: it outlives the process, so that a task can be taken up by another one.

Each change of a thing is a row of its own, so that a test can count what was really done, by whichever process.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from spectrace.core.types import Action, Call
from spectrace.environments.functions import FunctionEnvironment, Task, tool
from spectrace.environments.seen import Seen
from spectrace.errors import EnvironmentFailed

Moment = Callable[[str], None]
"""Told what is about to happen: `look`, `change` (nothing is done yet), `changed` (it is, and nobody knows)."""


def quiet(moment: str) -> None:
    """Do nothing."""


def open_lasting(path: Path | str, told: Moment = quiet, restore: str = "none") -> FunctionEnvironment:
    """Return the desk that keeps its things in this file."""
    file = Path(path)

    def reset() -> Path:
        file.unlink(missing_ok=True)
        with connected(file) as database:
            database.execute("CREATE TABLE changes (number INTEGER PRIMARY KEY, id TEXT NOT NULL)")
        return file

    def attach() -> Path:
        if not file.exists():
            raise EnvironmentFailed("unavailable", f"the desk's file {file.name} is not there")
        return file

    @tool(effect="read")
    def look(state: Path, id: str) -> str:  # noqa: A002 - as the models know it
        """Look a thing up."""
        told("look")
        return f"{id} was changed {changes(state).count(id)} times"

    @tool(effect="write")
    def change(state: Path, id: str) -> str:  # noqa: A002
        """Change a thing."""
        told("change")
        with connected(state) as database:
            database.execute("INSERT INTO changes (id) VALUES (?)", (id,))
        told("changed")
        return f"{id} is changed"

    def check(action: Action, seen: Seen) -> str | None:
        named = action.arguments.split('"')[3] if isinstance(action, Call) else ""
        return None if named in seen else f"{named} was never named"

    return FunctionEnvironment.from_functions(
        "lasting desk",
        (look, change),
        "Be careful.",
        reset=reset,
        attach=attach,
        tasks=(Task("t1", "Change A, then B.", grade=lambda state, answer: (changes(state), answer) == GOOD),),
        fingerprint=changes,
        check=check,
        restore=restore,
    )


GOOD = (["A", "B"], "done")
"""The changes and the answer that the task asks for."""


def connected(file: Path) -> "closing[sqlite3.Connection]":
    """Open the file; what is done in it is committed at once."""
    return closing(sqlite3.connect(file, isolation_level=None))


def changes(file: Path | str) -> list[str]:
    """Return what was changed, in order."""
    with connected(Path(file)) as database:
        return [id_ for (id_,) in database.execute("SELECT id FROM changes ORDER BY number")]
