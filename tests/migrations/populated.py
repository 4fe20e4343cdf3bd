"""Databases of past revisions with runs in them, as they were written then; `populate` says how they were made."""

import json
import lzma
from pathlib import Path

import sqlalchemy as sa

from spectrace.store.database import parse_url

DATA = Path(__file__).parent / "data"
REVISIONS = tuple(sorted(path.stem for path in DATA.glob("*.json")))


def told(revision: str) -> dict[str, dict[str, object]]:
    """Return what the spectrace that wrote it read in it."""
    found: dict[str, dict[str, object]] = json.loads((DATA / f"{revision}.json").read_text())
    return found


def sqlite_file(revision: str, path: Path) -> Path:
    """Write the SQLite file."""
    path.write_bytes(lzma.decompress((DATA / f"{revision}.db.xz").read_bytes()))
    return path


def fill_postgres(revision: str, url: str) -> str:
    """Fill the schema that the URL names, which is empty."""
    text = lzma.decompress((DATA / f"{revision}.sql.xz").read_bytes()).decode()
    engine = sa.create_engine(parse_url(url))
    with engine.connect() as connection:
        schema = connection.exec_driver_sql("SELECT current_schema()").scalar_one()
        driver = connection.connection.driver_connection
        driver.execute(text.replace("{schema}", schema))
        driver.commit()
    engine.dispose()
    return url
