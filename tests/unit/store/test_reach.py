"""What an erasure does not reach."""

from spectrace.store.matching import Needle
from spectrace.store.reach import POSTGRES, SQLITE, headers_with, kept_beside
from spectrace.store.sql import open_store
from tests.shop_log import recorded


def test_a_tools_name_and_an_authority_are_said_to_stay(database_url):
    store = open_store(database_url)
    recorded(store)
    tool, authority = (headers_with(store.database, Needle(text)) for text in ("cancel_order", "verdict:"))
    nothing = headers_with(store.database, Needle("nowhere to be found"))
    store.close()

    assert [one for one in tool if one.startswith("names of tools")]
    assert [one for one in authority if one.startswith("authorities in headers")]
    assert nothing == []


def test_backups_beside_the_file_are_named(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    for name in ("log.db.0003.20261130T000000Z.backup", "log.db.20261130T000000Z.replaced", "other.db.backup"):
        (tmp_path / name).write_bytes(b"")
    said = list(kept_beside(store.database))
    store.close()

    assert [one.split(" ")[0] for one in said[:-1]] == [
        "log.db.0003.20261130T000000Z.backup",
        "log.db.20261130T000000Z.replaced",
    ]
    assert said[-1] == SQLITE


def test_of_postgres_its_own_logs_are_named(postgres_url):
    store = open_store(postgres_url)
    said = list(kept_beside(store.database))
    store.close()

    assert said == [POSTGRES]
