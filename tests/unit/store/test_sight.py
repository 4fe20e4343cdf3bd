"""On Postgres `test_grants` asks it as granted roles; here it is asked where nothing is granted."""

from contextlib import closing

import pytest

from spectrace.store import sight
from spectrace.store.sql import open_store
from tests.roles import roles_of


def test_whoever_has_the_whole_database_sees_all_of_it(database_url):
    with closing(open_store(database_url)) as store, store.database.reading() as connection:
        assert sight.lists_texts(connection)
        assert sight.only_project(connection) is None
        assert sight.texts(connection, "?, ?") == "blobs WHERE digest IN (?, ?)"


@pytest.mark.parametrize("project", ["ours", "", "project x", "it's"])
def test_a_role_of_one_project_is_told_which_also_of_the_one_without_a_name(postgres_url, project):
    with (
        roles_of(postgres_url) as roles,
        closing(open_store(roles.granted("reader", project=project))) as store,
        store.database.reading() as connection,
    ):
        assert sight.only_project(connection) == project
