import pytest

from spectrace.errors import UsageError
from spectrace.store.address import explain, is_bundle, parse_url, refuse_bundle, shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgresql://u:p@h/x", "postgresql+psycopg://u:p@h/x"),
        ("postgres://h/x", "postgresql+psycopg://h/x"),
        ("sqlite:////data/x.db", "sqlite:////data/x.db"),
        ("/data/x.db", "sqlite:////data/x.db"),
    ],
)
def test_urls_are_read(text, expected):
    assert parse_url(text).render_as_string(hide_password=False) == expected


@pytest.mark.parametrize("text", ["", "sqlite://", "sqlite:///:memory:", "mysql://h/x", "nonsense://"])
def test_other_urls_are_refused(text):
    with pytest.raises(UsageError):
        parse_url(text)


def test_a_password_is_not_shown():
    assert shown(parse_url("postgresql://u:secret@h/x")) == "postgresql://u:***@h/x"


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("postgresql://postgres@/log?host=/run/pg", "postgresql://postgres@/log?host=/run/pg"),
        ("postgresql://postgres:@/log?host=%2Frun%2Fpg", "postgresql://postgres@/log?host=/run/pg"),
        ("postgres://h/x?password=secret&sslmode=require", "postgresql://h/x?password=***&sslmode=require"),
    ],
)
def test_a_url_is_shown_as_it_may_be_typed_again(typed, told):
    assert shown(parse_url(typed)) == told


def test_a_drivers_words_become_one_paragraph_with_advice():
    text = explain(parse_url("/data/x.db"), "database or disk\n is full")

    assert (
        text == "database /data/x.db: database or disk is full. Free some space; nothing of this transaction was kept."
    )


def test_a_bundle_is_no_database_and_says_what_to_do(tmp_path):
    path = tmp_path / "a.zip"
    path.write_bytes(b"PK\x03\x04")

    with pytest.raises(UsageError, match=r"a\.zip is a bundle.*spectrace unpack .*a\.zip --db FILE"):
        refuse_bundle(parse_url(str(path)))
    assert [is_bundle(path), is_bundle(tmp_path), is_bundle(tmp_path / "none")] == [True, False, False]


def test_what_is_no_bundle_passes(tmp_path):
    (tmp_path / "log.db").write_bytes(b"SQLite format 3")

    assert [refuse_bundle(parse_url(url)) for url in (str(tmp_path / "log.db"), "postgresql://here/log")] == [
        None,
        None,
    ]
