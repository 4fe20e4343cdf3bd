import pytest

from spectrace.errors import StoreError, UsageError
from spectrace.store.names import Names, check_episode_id, is_episode_id, not_found
from spectrace.store.sql import open_store


@pytest.fixture
def database(database_url):
    store = open_store(database_url)
    yield store.database
    store.close()


@pytest.mark.parametrize("episode", ["a", "01J9ZK", "run.1_x-2", "a" * 128])
def test_an_id_that_can_be_typed_is_taken(episode):
    check_episode_id(episode)
    assert is_episode_id(episode)


@pytest.mark.parametrize("episode", ["", "a:1", "-", "a b", "é", "a\0", "../x", "a" * 129, "a\n"])
def test_another_is_refused(episode):
    with pytest.raises(UsageError, match="an episode id is"):
        check_episode_id(episode)
    assert not is_episode_id(episode)


def test_five_candidates_are_named_and_more_are_hinted_at():
    text = str(not_found("a", ["a1", "a2", "a3", "a4", "a5", "a6"]))

    assert text == "'a' fits several episodes: a1, a2, a3, a4, a5, .... Give more of the id."


def test_a_tool_keeps_its_number(database):
    with database.writing(durable=False) as connection:
        first = dict(Names().learn(connection, {"cancel", "find"}))
    with database.writing(durable=False) as connection:
        names = Names()
        again = dict(names.learn(connection, {"find", "cancel", "new"}))

        assert {name: again[name] for name in first} == first
        assert names.tool_name(connection, again["new"]) == "new"


def test_type_names_and_numbers_are_each_others_inverse(database):
    names = Names()
    with database.reading() as connection:
        assert names.type_name(connection, names.type_number(connection, "verdict.given")) == "verdict.given"


def test_a_number_without_a_name_is_damage(database):
    with database.reading() as connection:
        with pytest.raises(StoreError, match="type number 999"):
            Names().type_name(connection, 999)
        with pytest.raises(StoreError, match="tool number 999"):
            Names().tool_name(connection, 999)


def test_bytes_name_no_type_and_no_tool(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    with store.database.writing(durable=False) as connection:
        connection.exec_driver_sql("UPDATE types SET name = x'ff' WHERE number = 9")
        connection.exec_driver_sql("INSERT INTO tools (id, name) VALUES (1, x'ff')")
        with pytest.raises(StoreError, match="type number 9, which has no name"):
            Names().type_name(connection, 9)
        with pytest.raises(StoreError, match="tool number 1, which has no name"):
            Names().tool_name(connection, 1)
    store.close()
