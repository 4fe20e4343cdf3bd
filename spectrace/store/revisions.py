"""The revisions that this package carries, and Alembic, which runs them.

The migrations travel inside the wheel (`spectrace/_migrations`) and lie at the root of a checkout.
"""

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from spectrace.errors import StoreError

_PACKAGE = Path(__file__).resolve().parents[1]
_PLACES = (_PACKAGE / "_migrations", _PACKAGE.parent / "migrations")


def head() -> str:
    """Return the newest revision that this package carries."""
    newest = ScriptDirectory.from_config(_config()).get_current_head()
    if newest is None:
        raise StoreError(f"no migrations in {_directory()}: this installation is damaged.")
    return newest


def carried() -> frozenset[str]:
    """Return every revision that this package carries."""
    return frozenset(script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions())


def of(connection: sa.Connection) -> str | None:
    """Return the database's revision; None when it is empty."""
    return MigrationContext.configure(connection).get_current_revision()


def run(connection: sa.Connection, to: str = "head") -> None:
    """Run the missing migrations in the connection's transaction."""
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, to)


def missing(found: str | None) -> tuple[tuple[str, str], ...]:
    """Return (revision, what it is) of those after `found`, in order."""
    scripts = ScriptDirectory.from_config(_config())
    later = [script for script in scripts.iterate_revisions("head", found or "base") if script.revision != found]
    return tuple((script.revision, script.doc) for script in reversed(later))


def _directory() -> Path:
    found = next((place for place in _PLACES if (place / "env.py").exists()), None)
    if found is None:
        raise StoreError(f"the migrations are missing ({_PLACES[0]}): this installation is damaged; install it again.")
    return found


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(_directory()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
