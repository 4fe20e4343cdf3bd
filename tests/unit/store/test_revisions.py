import pytest

from spectrace.errors import StoreError
from spectrace.store import revisions


def test_the_head_is_the_last_of_those_carried():
    assert revisions.missing(None)[-1][0] == revisions.head()
    assert {name for name, _ in revisions.missing(None)} == revisions.carried()


def test_what_is_missing_is_told_in_order_and_in_words():
    assert revisions.missing("0001")[0] == (
        "0002",
        "The administrative log: which episode tells what was done to this database, in each of its epochs.",
    )
    assert revisions.missing(revisions.head()) == ()


def test_an_installation_without_migrations_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(revisions, "_PLACES", (tmp_path / "_migrations",))

    with pytest.raises(StoreError, match="migrations are missing"):
        revisions.head()
