"""The revisions that this package carries, and Alembic, which runs them.

The migrations travel inside the wheel (`spectrace/_migrations`) and lie at the root of a checkout. Alembic takes a
tenth of a second to import, which a process that only helps to verify does without.
"""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa

from spectrace.errors import StoreError

if TYPE_CHECKING:
    from alembic.config import Config

_PACKAGE = Path(__file__).resolve().parents[1]
_PLACES = (_PACKAGE / "_migrations", _PACKAGE.parent / "migrations")


def head() -> str:
    """Return the newest revision that this package carries."""
    every = _every()
    if not every:
        raise StoreError(f"no migrations in {_directory()}: this installation is damaged.")
    return every[-1][0]


def carried() -> frozenset[str]:
    """Return every revision that this package carries."""
    return frozenset(revision for revision, _ in _every())


def missing(found: str | None) -> tuple[tuple[str, str], ...]:
    """Return (revision, what it is) of those after `found`, in order."""
    names = [revision for revision, _ in _every()]
    return _every()[names.index(found) + 1 if found is not None else 0 :]


def of(connection: sa.Connection) -> str | None:
    """Return the database's revision; None when it is empty."""
    from alembic.runtime.migration import MigrationContext  # noqa: PLC0415 - see above

    found = MigrationContext.configure(connection).get_current_heads()
    if len(found) > 1:
        raise StoreError(
            f"the database says that it is at several revisions ({', '.join(found)}): somebody altered that."
        )
    return found[0] if found else None


def run(connection: sa.Connection, to: str = "head") -> None:
    """Run the missing migrations in the connection's transaction."""
    from alembic import command  # noqa: PLC0415 - see above

    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, to)


def _every() -> tuple[tuple[str, str], ...]:
    versions = _directory() / "versions"
    return _read(versions.parent, tuple(sorted(path.name for path in versions.glob("*.py"))))


@cache
def _read(directory: Path, files: tuple[str, ...]) -> tuple[tuple[str, str], ...]:  # noqa: ARG001 - part of the key
    """Return (revision, what it is) of all, in order: Alembic loads every module for it, which takes 8 ms."""
    from alembic.script import ScriptDirectory  # noqa: PLC0415 - see above

    scripts = ScriptDirectory(str(directory)).walk_revisions()
    return tuple((script.revision, script.doc) for script in reversed(list(scripts)))


def _directory() -> Path:
    found = next((place for place in _PLACES if (place / "env.py").exists()), None)
    if found is None:
        raise StoreError(f"the migrations are missing ({_PLACES[0]}): this installation is damaged; install it again.")
    return found


def _config() -> "Config":
    from alembic.config import Config  # noqa: PLC0415 - see above

    config = Config()
    config.set_main_option("script_location", str(_directory()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
