"""A checkpoint that was signed before an erasure still holds after it: nothing that it covers was changed."""

import asyncio

import pytest

from spectrace.store.sql import open_store
from tests.command_line import in_a_directory
from tests.damage import past_the_triggers
from tests.episodes import record_shop
from tests.erasures import ADDRESS, planted

TRUST = ("--checkpoint", "log.checkpoint", "--key", "log.key.pub")


@pytest.fixture
def line(monkeypatch, tmp_path, database_url):
    found = in_a_directory(monkeypatch, tmp_path)
    monkeypatch.setenv("SPECTRACE_DB", database_url)
    assert found("checkpoint", "key", "log", "-o", "log.key").exit_code == 0
    return found


@pytest.fixture
def erased(line, database_url):
    """A log that was signed, of which an address was erased then; the ids of its episodes."""
    store = open_store(database_url)
    names = [*planted(store, episodes=2), asyncio.run(record_shop(store)).episode]
    store.close()
    assert line("checkpoint", "create", "-o", "log.checkpoint", "--key", "log.key").exit_code == 0
    done = line("erase", "--matching", ADDRESS, "--by", "Ann")
    assert done.exit_code == 0, done.output
    return names


def results(line, *arguments, code=0):
    return {one["episode"]: one["result"] for one in line.items("verify", "--all", *arguments, code=code)}


def test_what_was_signed_is_still_valid_after_the_erasure(line, erased):
    found = results(line, *TRUST)

    assert {found[name] for name in erased} == {"valid"}
    assert set(found.values()) == {"valid"}


def test_the_next_checkpoint_signs_the_erased_log(line, erased):
    again = line("checkpoint", "create", "-o", "log.checkpoint", "--key", "log.key")
    found = results(line, *TRUST)

    assert again.exit_code == 0, again.output
    assert set(found.values()) == {"valid"}


def test_an_erasure_without_its_record_is_no_erasure(line, erased, database_url):
    with past_the_triggers(database_url) as connection:
        place = (3 << 20) + 4
        connection.exec_driver_sql(f"UPDATE events SET payload = NULL, salt = NULL WHERE key = {place}")  # noqa: S608
        connection.commit()
    found = results(line, *TRUST, code=1)

    assert found[erased[2]] == "invalid"
    assert {found[name] for name in erased[:2]} == {"valid"}
