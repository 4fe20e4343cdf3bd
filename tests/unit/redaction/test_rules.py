"""The `[redaction]` of spectrace.toml."""

from pathlib import Path

import pytest

from spectrace.errors import UsageError
from spectrace.redaction.rules import Rules, read_rules


def read(**table: object) -> Rules:
    return read_rules(table, "spectrace.toml")


def test_without_a_table_credentials_are_redacted_and_nothing_else():
    assert read() == Rules()


def test_everything_that_the_table_says_is_read():
    rules = read(
        personal=["email"],
        patterns=[{"name": "id", "regex": "E-[0-9]+"}],
        fields=["Pin-Code"],
        allow=["x"],
        key_file="k",
    )

    assert (rules.personal, rules.patterns[0][0], rules.extra, rules.allow, rules.key_file) == (
        ("email",),
        "id",
        {"pincode"},
        {"x"},
        Path("k"),
    )


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"enabeld": True}, "redaction.enabeld is not known. Known: enabled"),
        ({"enabled": "no"}, "redaction.enabled must be a bool, found str"),
        ({"personal": ["name"]}, "redaction.personal may hold email, card, iban, phone, found 'name'"),
        ({"fields": [1]}, "redaction.fields is a list of texts, found int in it"),
        ({"patterns": ["x"]}, 'redaction.patterns[0] is {name = "...", regex = "..."}'),
        ({"patterns": [{"name": "My", "regex": "x"}]}, "redaction.patterns[0].name is lower case"),
        ({"patterns": [{"name": "a", "regex": "("}]}, "redaction.patterns[0].regex is no regular expression"),
        ({"patterns": [{"name": "a", "regex": "x*"}]}, "match no empty text"),
        ({"patterns": [{"name": "a", "regex": "(x)(y)"}]}, "one group at most"),
        ({"key_file": "a", "key_env": "B"}, "names both key_file and key_env"),
    ],
)
def test_what_is_wrong_is_named(table, said):
    with pytest.raises(UsageError) as caught:
        read(**table)

    assert said in str(caught.value)


def test_other_rules_have_another_digest_and_the_key_is_no_part_of_it():
    digests = {read().digest, read(personal=["email"]).digest, read(fields=["pin"]).digest, read(allow=["a"]).digest}

    assert (len(digests), read(key_env="A").digest) == (4, read().digest)
