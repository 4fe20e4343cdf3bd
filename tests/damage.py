"""Damage to a database as whoever can write its file may do it: past the triggers, and none the wiser."""

import sqlite3
from pathlib import Path


def damage(path: Path | str, statement: str) -> None:
    """Drop the triggers and change events."""
    connection = sqlite3.connect(path)
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f'DROP TRIGGER "{name}"')
    connection.execute(statement)
    connection.commit()
    connection.close()
