"""On Postgres `test_grants` asks it as granted roles; here it is asked where nothing is granted."""

from contextlib import closing

from spectrace.store import sight
from spectrace.store.sql import open_store


def test_whoever_has_the_whole_database_sees_all_of_it(database_url):
    with closing(open_store(database_url)) as store, store.database.reading() as connection:
        assert sight.lists_texts(connection)
        assert sight.only_project(connection) is None
        assert sight.texts(connection, "?, ?") == "blobs WHERE digest IN (?, ?)"
