"""`spectrace scan-secrets`."""

import asyncio

import pytest

from spectrace.core.baselines import WeakOnly
from spectrace.core.types import Finish
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.live import record
from spectrace.store.sql import open_store
from tests.command_line import in_a_directory
from tests.redaction import PASSWORD, TOKEN, Vault, redactor


@pytest.fixture
def line(monkeypatch, tmp_path):
    return in_a_directory(monkeypatch, tmp_path)


def recorded(using=None) -> str:
    store, environment = open_store("sqlite:///spectrace.db"), Vault().open()
    clients = {"weak": ScriptedModel([Finish("done")])}
    try:
        done = asyncio.run(record(environment.tasks()[0], environment, clients, WeakOnly(), store, redactor=using))
    finally:
        store.close()
    return done.episode


def test_what_lies_in_the_log_is_found_named_and_not_shown(line):
    episode = recorded()

    result = line("scan-secrets")

    assert (result.exit_code, PASSWORD in result.output, TOKEN in result.output) == (1, False, False)
    assert (episode in result.stdout, "spectrace erase" in result.stdout) == (True, True)


def test_a_clean_log_is_a_yes(line):
    recorded(redactor())

    result = line("scan-secrets")

    assert (result.exit_code, result.stdout) == (0, "No secret was found.\n")


def test_items_have_the_place_and_the_kind(line):
    episode = recorded()

    items = line.items("scan-secrets", episode, code=1)

    assert {item["episode"] for item in items} == {episode}
    assert items[0] == {
        "episode": episode,
        "seq": 0,
        "where": items[0]["where"],
        "kind": "secret",
        "detail": items[0]["detail"],
    }


def test_a_bundle_is_looked_through_as_a_log_is(line, tmp_path):
    recorded()
    assert line("pack", "--all", "-o", "bundle.zip").exit_code == 0
    (tmp_path / "spectrace.db").unlink()

    assert line.items("scan-secrets", "bundle.zip", code=1) != []


def test_the_users_own_rules_count(line, tmp_path):
    recorded(redactor())
    (tmp_path / "spectrace.toml").write_text('[redaction]\npatterns = [{name = "care", regex = "Be careful"}]\n')

    assert {item["kind"] for item in line.items("scan-secrets", code=1)} == {"care"}
