"""Names: what an episode id may look like, and the small integers of types and tools."""

import re
from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from spectrace.core.admin_events import ADMIN_PREFIX
from spectrace.errors import EpisodeNotFound, StoreError, UsageError
from spectrace.store import tables

_EPISODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
SHOWN_CANDIDATES = 5


def check_episode_id(episode: str) -> None:
    """Refuse an id that could not be typed, prefixed or written as `EP:SEQ`."""
    if not _EPISODE.fullmatch(episode):
        raise UsageError(
            "an episode id is 1 to 128 letters, digits, dots, dashes and underscores, the first a letter or digit, "
            f"not {episode[:80]!r}."
        )


def is_episode_id(text: str) -> bool:
    """Whether an episode may have that id."""
    return _EPISODE.fullmatch(text) is not None


def check_run_id(episode: str) -> None:
    """Refuse an id that no run may have; it would pass for the administrative log."""
    check_episode_id(episode)
    if episode.startswith(ADMIN_PREFIX):
        raise UsageError(f"ids that begin with {ADMIN_PREFIX} are kept for administrative logs: choose another.")


def not_found(prefix: str, found: Sequence[str]) -> EpisodeNotFound:
    """Return the error for a prefix that fits no episode, or several (give one more than are shown)."""
    if not found:
        return EpisodeNotFound(f"no episode has the id or prefix {prefix[:80]!r}; `spectrace ls` lists them.")
    shown = ", ".join(found[:SHOWN_CANDIDATES]) + (", ..." if len(found) > SHOWN_CANDIDATES else "")
    return EpisodeNotFound(f"{prefix!r} fits several episodes: {shown}. Give more of the id.")


class Names:
    """Type and tool names and their small integers in one database; what was read once is kept."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self.types: dict[str, int] = {}
        """Type name -> its number, as far as it was asked for."""
        self._type_names: dict[int, str] = {}
        self.tools: dict[str | None, int | None] = {None: None}
        """Tool name -> its number, as far as it was asked for; None, for no tool, has none."""
        self._new_tools: dict[str | None, int | None] = {}
        self._tool_names: dict[int, str] = {}

    def type_number(self, connection: sa.Connection, name: str) -> int:
        """Return a type's number; the migrations wrote those that this package knows."""
        if name not in self.types:
            self.load_types(connection)
        return self.types[name]

    def type_name(self, connection: sa.Connection, number: int) -> str:
        """Return a type's name."""
        if number not in self._type_names:
            self.load_types(connection)
        if number not in self._type_names:
            raise StoreError(
                f"an event has the type number {number}, which has no name: the log was altered or damaged."
            )
        return self._type_names[number]

    def know(self, tools: set[str | None]) -> bool:
        """Whether an event with these tools can be written without asking the database."""
        return bool(self.types) and tools <= self.tools.keys()

    def learn(self, connection: sa.Connection, tools: set[str | None]) -> dict[str | None, int | None]:
        """Return the numbers of tools, given out where they are new, inside the transaction that uses them.

        Other threads see the new ones once `committed`; the types' numbers are loaded too.
        """
        if not self.types:
            self.load_types(connection)
        new = [name for name in tools if name is not None and name not in self.tools]
        if new:
            insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
            connection.execute(insert(tables.tools).on_conflict_do_nothing(), [{"name": name} for name in sorted(new)])
            query = sa.select(tables.tools.c.name, tables.tools.c.id).where(tables.tools.c.name.in_(new))
            self._new_tools = {name: id_ for name, id_ in connection.execute(query)}  # noqa: C416 - rows are no pairs to mypy
        return {**self.tools, **self._new_tools}

    def committed(self) -> None:
        """Keep the numbers given out."""
        self.tools.update(self._new_tools)
        self._new_tools = {}

    def tool_name(self, connection: sa.Connection, id_: int | None) -> str | None:
        """Return a tool's name."""
        if id_ is None:
            return None
        if id_ not in self._tool_names:
            query = sa.select(tables.tools.c.id, tables.tools.c.name).where(tables.tools.c.id == id_)
            self._tool_names.update((found, name) for found, name in connection.execute(query) if type(name) is str)
        if id_ not in self._tool_names:
            raise StoreError(
                f"an event names the tool number {id_}, which has no name: the log was altered or damaged."
            )
        return self._tool_names[id_]

    def rolled_back(self) -> None:
        """Forget the ids given out: their transaction did not happen."""
        self._new_tools = {}

    def load_types(self, connection: sa.Connection) -> None:
        """Read the types' numbers."""
        for number, name in connection.execute(sa.select(tables.types.c.number, tables.types.c.name)):
            if type(name) is str:  # SQLite holds bytes as well, which name nothing
                self.types[name], self._type_names[number] = number, name
