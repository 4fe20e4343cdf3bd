"""What a forger does who knows the format, with everything else put right: found by the tree, given the checkpoint.

Without one such a log is consistent, and never valid.
"""

# ruff: noqa: S608 - names come from the schema, values are bound

from collections.abc import Callable

import pytest
import sqlalchemy as sa

from spectrace.audit.verifying import verify_all
from spectrace.core.admin_events import is_admin
from spectrace.store.sql import open_store
from spectrace.store.upkeep import rebuild
from tests.tampering import forgery
from tests.tampering.account import DATABASE
from tests.tampering.operations import with_triggers, without_triggers
from tests.tampering.recorded_log import Kept, kept, more
from tests.tampering.trust import verified

pytestmark = pytest.mark.slow

FEW = 24
Forge = Callable[[sa.Connection, str], None]


def other_words(seq: int, body: dict) -> dict:
    return {**body, "raw": "{}"} if "raw" in body else body


def other_reason(seq: int, body: dict) -> dict:
    return {**body, "spectrace": "0.0.0"} if seq == 0 else body


def rewritten(connection: sa.Connection, episode: str) -> None:
    forgery.rewrite(connection, episode, other_reason if is_admin(episode) else other_words)


def rewritten_with_its_leaf(connection: sa.Connection, episode: str) -> None:
    rewritten(connection, episode)
    forgery.leaf_anew(connection, episode)


def cut(connection: sa.Connection, episode: str) -> None:
    forgery.cut(connection, episode, 1 if is_admin(episode) else 9)


def cut_with_its_leaf(connection: sa.Connection, episode: str) -> None:
    cut(connection, episode)
    forgery.leaf_anew(connection, episode)


def removed_with_its_leaf(connection: sa.Connection, episode: str) -> None:
    forgery.remove(connection, episode, leaves=True)


FORGERIES: dict[str, Forge] = {
    "another word, the chain computed anew": rewritten,
    "another word, chain and leaf computed anew": rewritten_with_its_leaf,
    "the end cut off, with the row": cut,
    "the end cut off, with row and leaf": cut_with_its_leaf,
    "removed with all its rows": forgery.remove,
    "removed with all its rows and its leaf": removed_with_its_leaf,
}


@pytest.fixture(scope="module")
def log(tmp_path_factory) -> Kept:
    return kept(tmp_path_factory, FEW)


def forged(log: Kept, path, forge: Forge, episode: str) -> Kept:
    """Return a copy in which that was done, with what lists show made anew."""
    copy = log.copy(path)
    with copy.engine().connect() as connection:
        without_triggers(connection)
        forge(connection, episode)
        with_triggers(connection)
        connection.commit()
    rebuild(copy.url)
    return copy


def runs_and_logs(log: Kept) -> tuple[list[str], list[str]]:
    with log.engine().connect() as connection:
        found = connection.exec_driver_sql("SELECT episode FROM episodes ORDER BY number").scalars().all()
    return [name for name in found if not is_admin(name)], [name for name in found if is_admin(name)]


@pytest.mark.parametrize("kind", FORGERIES)
@pytest.mark.parametrize("whose", ["a run's", "an administrative log's"])
def test_it_is_found_with_its_episode_and_the_others_stay_valid(log, tmp_path, kind, whose):
    runs, logs = runs_and_logs(log)
    episode = logs[0] if whose != "a run's" else runs[17]
    copy = forged(log, tmp_path / "copy.db", FORGERIES[kind], episode)
    answer = verified(copy.url, log.trusted)

    assert answer.code == 1
    assert answer.named.keys() - {DATABASE} == {episode}
    assert answer.results == {"valid", "invalid"}


@pytest.mark.parametrize("kind", FORGERIES)
def test_without_the_checkpoint_it_is_consistent_and_never_valid(log, tmp_path, kind):
    copy = forged(log, tmp_path / "copy.db", FORGERIES[kind], runs_and_logs(log)[0][17])
    store = open_store(copy.url, read_only=True)
    results = {one.result for one in verify_all(store, store_names(store), 1)}
    store.close()

    assert results == {"consistent"}


def store_names(store) -> list[str]:
    with store.database.reading() as connection:
        return list(connection.exec_driver_sql("SELECT episode FROM episodes").scalars())


def test_a_rollback_to_an_old_copy_is_found_with_what_is_missing(log, tmp_path):
    old, new = log.copy(tmp_path / "old.db"), log.copy(tmp_path / "new.db")
    added, trusted = more(new, tmp_path / "later")
    answer = verified(old.url, trusted)

    assert {name for name in answer.named if not is_admin(name)} - {DATABASE} == set(added)
    assert verified(new.url, trusted).results == {"valid"}


def test_an_event_erased_without_a_record_is_named(log, tmp_path):
    runs, _ = runs_and_logs(log)
    copy = forged(
        log, tmp_path / "copy.db", lambda connection, episode: forgery.erase(connection, episode, 5), runs[17]
    )
    answer = verified(copy.url, log.trusted)

    assert {name: item["first_bad_seq"] for name, item in answer.named.items() if name != DATABASE} == {runs[17]: 5}


def test_an_episode_that_nobody_recorded_is_newer_than_the_checkpoint_and_not_valid(log, tmp_path):
    copy = log.copy(tmp_path / "copy.db")
    added, _ = more(copy, tmp_path / "later")
    results = {item["episode"]: item["result"] for item in verified(copy.url, log.trusted).items}

    assert [results[episode] for episode in added] == ["consistent"] * 3


def test_two_epochs_in_each_others_place_are_found(log, tmp_path):
    copy = log.copy(tmp_path / "copy.db")
    with copy.engine().connect() as connection:
        for old, new in ((1, 9), (2, 1), (9, 2)):
            connection.exec_driver_sql(f"UPDATE epochs SET place = {new} WHERE place = {old}")
        connection.commit()

    assert verified(copy.url, log.trusted).named.keys() == {DATABASE}
