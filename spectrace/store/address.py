"""Where a database is: its URL as typed and as shown, and what its driver says made into a paragraph with advice."""

import re
from pathlib import Path
from urllib.parse import unquote

import sqlalchemy as sa

from spectrace.errors import UsageError

BUSY_S = 30.0
"""How long a write waits for its turn."""
_ZIP = b"PK\x03\x04"


def parse_url(text: str) -> sa.URL:
    """Return the URL of `sqlite:///x.db`, `postgresql://...` or a bare path; raise UsageError for anything else."""
    url = sa.URL.create("sqlite", database=text) if "://" not in text and text else _parsed(text)
    match url.get_backend_name():
        case "sqlite" if url.database and url.database != ":memory:":
            return sa.URL.create("sqlite", database=str(Path(url.database).expanduser().resolve()))
        case "postgresql" | "postgres":
            return url.set(drivername="postgresql+psycopg")
        case _:
            raise UsageError(
                f"a database is a path, sqlite:///FILE or postgresql://USER@HOST/NAME, not {shown(url)}. "
                "Give one with --db or SPECTRACE_DB."
            )


def _parsed(text: str) -> sa.URL:
    try:
        return sa.make_url(text)
    except (sa.exc.ArgumentError, ValueError) as error:
        raise UsageError(f"--db {text!r} is not a database URL: try sqlite:///spectrace.db.") from error


def is_bundle(path: Path) -> bool:
    """Whether a zip lies there: whoever packs a log has it under a name as good as the log's."""
    try:
        if not path.is_file():  # to open a pipe waits for who writes it
            return False
        with path.open("rb") as file:
            return file.read(len(_ZIP)) == _ZIP
    except OSError:
        return False


def refuse_bundle(url: sa.URL) -> None:
    """Raise UsageError for a bundle where only a database will do; the driver would call it damaged or encrypted."""
    path = Path(url.database or "")
    if url.get_backend_name() == "sqlite" and is_bundle(path):
        raise UsageError(
            f"{path} is a bundle, and this needs a database: `spectrace unpack {path} --db FILE` makes one of it. "
            "Commands that only read take the bundle as it is."
        )


def shown(url: sa.URL) -> str:
    """Return the URL for a message, as it may be typed again: never its password."""
    if url.drivername == "sqlite" and url.database:
        return url.database
    hidden = {name: "***" for name in url.query if "password" in name}
    url = url.set(drivername=url.get_backend_name()).update_query_dict(hidden)
    if not url.password:
        url = url._replace(password=None)
    address, mark, query = url.render_as_string(hide_password=True).partition("?")
    return address + mark + unquote(query)


LOST = "the connection was lost: "

_ADVICE = (
    (LOST, "Is the server still there, and did somebody end the session? What was committed before is kept."),
    ("unable to open database file", "Does the directory exist, and may this user write there? Is the disk read-only?"),
    ("readonly database", "This user may not write there: choose another place with --db, or change the permissions."),
    ("Permission denied", "This user may not write there: choose another place with --db, or change the permissions."),
    ("Read-only file system", "The file system is read-only: choose another place with --db."),
    ("not a database", "The file is something else, or encrypted: check the path given with --db."),
    ("malformed", "The file is damaged or cut short: restore a backup, or try `sqlite3 FILE .recover` on a copy."),
    ("disk is full", "Free some space; nothing of this transaction was kept."),
    ("No space left", "Free some space; nothing of this transaction was kept."),
    ("disk I/O error", "Is the disk full, read-only, over a quota or broken? Nothing of this transaction was kept."),
    ("read-only transaction", "The server takes no writes now: is it a standby, or default_transaction_read_only on?"),
    ("locked", f"Another process held the database for over {BUSY_S:.0f} s."),
    ("connection failed", "Is Postgres running there, and are host, port, user and password right?"),
    ("could not be acquired", f"Another process held the lock beside the database for over {BUSY_S:.0f} s."),
)


_POSTGRES_ASKS = re.compile(r"\s*Is the server running[^?]*\?")
"""Its own advice, in the middle of what it says; ours stands at the end."""


def explain(url: sa.URL, error: str) -> str:
    """Return one paragraph: which database, what its driver said, what to do."""
    said = " ".join(_POSTGRES_ASKS.sub("", error).split())
    advice = next((advice for sign, advice in _ADVICE if sign in said), "")
    return f"database {shown(url)}: {said.rstrip('.')}. {advice}".rstrip()
