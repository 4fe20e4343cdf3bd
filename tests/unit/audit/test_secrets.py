"""Secrets that are in a log all the same."""

import asyncio
import json

import pytest

from spectrace.audit.secrets import SecretScan
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Call, Finish
from spectrace.errors import UsageError
from spectrace.models.scripted import ScriptedModel
from spectrace.redaction.rules import Rules
from spectrace.runs.live import Labels, record
from spectrace.store import runs
from spectrace.store.sql import open_store
from tests.playbook import accept
from tests.redaction import DSN_PASSWORD, PASSWORD, TOKEN, Vault, redactor

WEAK = [Call("read_settings", "{}"), Call("log_in", json.dumps({"password": PASSWORD})), Finish("done")]


@pytest.fixture
def store(tmp_path):
    opened = open_store(f"sqlite:///{tmp_path / 'log.db'}")
    yield opened
    opened.close()


def recorded(store, using=None) -> str:
    environment = Vault().open()
    clients = {"weak": ScriptedModel(list(WEAK)), "strong": ScriptedModel([accept(), accept(), accept()])}
    labels = Labels(labels=(("api_key", "zz-1-planted"),))
    done = asyncio.run(
        record(environment.tasks()[0], environment, clients, SpecAgent(), store, labels=labels, redactor=using)
    )
    return done.episode


def test_every_secret_of_an_episode_is_found_with_its_place_and_none_is_told(store):
    episode = recorded(store)
    scan = SecretScan(Rules())

    found = list(scan.episodes(store, [episode]))

    assert {one.where for one in found if one.seq == 0} == {
        "/body/instructions",
        "/body/labels/0/1",
        "/body/task/request",
    }
    assert {"/body/observation/content", "/body/action/arguments"} <= {one.where for one in found}
    assert not any(secret in repr(found) for secret in (PASSWORD, TOKEN, DSN_PASSWORD, "zz-1"))
    assert ({one.kind for one in found}, scan.unread) == ({"secret"}, [])


def test_what_was_redacted_is_found_nowhere(store):
    episode = recorded(store, redactor())

    assert list(SecretScan(Rules()).episodes(store, [episode])) == []


def test_the_settings_of_runs_are_looked_at(store):
    runs.begin(store, "night", "reverify", [("a", "b")], json.dumps({"url": "http://u:planted-3@h"}))

    (found,) = SecretScan(Rules()).runs(store)

    assert (found.episode, found.seq, found.where, found.detail) == (
        "night",
        None,
        "/settings",
        "password in a URL, 9 characters",
    )


def test_a_text_that_is_missing_is_told_as_not_looked_at(store):
    episode = recorded(store)
    with store.database.writing(durable=True) as connection:
        connection.exec_driver_sql("DELETE FROM blobs")
    scan = SecretScan(Rules())

    list(scan.episodes(store, [episode]))

    assert scan.unread[0].episode == episode
    assert "is missing" in scan.unread[0].detail


def test_a_file_of_lines_is_looked_through_line_by_line(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"a": 1}\n{"password": "planted-4"}\n')

    (found,) = SecretScan(Rules()).lines(file)

    assert (found.episode, found.where, found.detail) == ("a.jsonl", "line 2", "field password, 9 characters")


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"no\.jsonl cannot be read"):
        list(SecretScan(Rules()).lines(tmp_path / "no.jsonl"))
