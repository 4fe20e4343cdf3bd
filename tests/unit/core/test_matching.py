"""H10: the same call written otherwise is equal, or a normalised match whose rules are named."""

import unicodedata

import pytest

from spectrace.core.matching import EXACT, match
from spectrace.core.types import Call, Finish, Reply

NFC, NFD = "Café", unicodedata.normalize("NFD", "Café")


def get(arguments):
    return Call("get", arguments)


@pytest.mark.parametrize(
    ("recorded", "asked", "rules"),
    [
        ('{"a": 1, "b": 2}', '{"b":2,"a":1}', EXACT),
        ("", "{}", EXACT),
        ('{"id": "A-1"}', '{"id": " A-1"}', ("outer space",)),
        ('{"n": 2}', '{"n": 2.0}', ("number form",)),
        ('{"n": 100}', '{"n": 1e2}', ("number form",)),
        (f'{{"name": "{NFC}"}}', f'{{"name": "{NFD}"}}', ("unicode form",)),
        ('{"a": 1, "b": null}', '{"a": 1}', ("null for absent",)),
        ('{"a": [{"b": null}]}', '{"a": [{}]}', ("null for absent",)),
        ('{"n": 2, "id": "A"}', '{"id": "A ", "n": 2.00}', ("outer space", "number form")),
    ],
)
def test_a_call_is_equal_or_matches_by_rules_that_are_named(recorded, asked, rules):
    assert match(get(recorded), get(asked)) == rules
    assert match(get(asked), get(recorded)) == rules


@pytest.mark.parametrize(
    ("recorded", "asked"),
    [
        ('{"n": 2}', '{"n": "2"}'),
        ('{"n": 1}', '{"n": true}'),
        ('{"n": 2}', '{"n": 2.5}'),
        ('{"a": null}', '{"a": 0}'),
        ('{"id": "A 1"}', '{"id": "A1"}'),
        ('{"id": "a"}', '{"id": "A"}'),
        ("no JSON", " no JSON"),
        ('{"a": 1, "a": 2}', '{"a": 2.0}'),
        ('{"n": NaN}', '{"n": NaN, "m": null}'),
    ],
)
def test_anything_else_is_another_call(recorded, asked):
    assert match(get(recorded), get(asked)) is None


def test_another_tool_or_another_kind_never_matches():
    assert match(Call("get", "{}"), Call("put", "{}")) is None
    assert match(Reply("done"), Finish("done")) is None


def test_words_to_a_user_match_by_the_same_rules():
    assert [match(Finish("done"), Finish(text)) for text in ("done", "done\n", "Done")] == [
        EXACT,
        ("outer space",),
        None,
    ]
