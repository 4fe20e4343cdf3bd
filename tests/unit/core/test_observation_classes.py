"""Every class is defined by what it lets differ, and named with what was found."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectrace.core.observation_classes import PASSABLE, ObservationClass, classify
from spectrace.core.renaming import Renaming

NFC, NFD = "Café", unicodedata.normalize("NFD", "Café")


def found(recorded, now, *volatile):
    one = classify(recorded, now, Renaming(), volatile)
    return one.kind.value, one.notes


@pytest.mark.parametrize(
    ("recorded", "now", "kind", "notes"),
    [
        ("a", "a", "exact", ()),
        ('{"a": 1, "b": [2]}', '{"b":[2],"a":1}', "json-equal", ()),
        ('"\\u00e9"', '"é"', "json-equal", ()),
        ("done\n", "done", "cosmetic", ("trailing space",)),
        ("a  \nb", "a\nb", "cosmetic", ("trailing space",)),
        ("a\r\nb", "a\nb", "cosmetic", ("line ends",)),
        (NFC, NFD, "cosmetic", ("unicode form",)),
        (f"{NFC}  \n", NFD, "cosmetic", ("trailing space", "unicode form")),
        ("id f4af", "id 91c0", "id-renamed", ("f4af is 91c0",)),
        ("id f4af\n", "id 91c0", "id-renamed", ("trailing space", "f4af is 91c0")),
    ],
)
def test_the_first_class_that_suffices_is_named_with_its_reasons(recorded, now, kind, notes):
    assert found(recorded, now) == (kind, notes)
    assert found(now, recorded)[0] == kind


@pytest.mark.parametrize(
    ("recorded", "now"),
    [
        ('{"n": 2}', '{"n": 2.0}'),
        ('{"n": 2}', '{"n": "2"}'),
        ('{"a": null}', "{}"),
        ('{"id": " A-1"}', '{"id": "A-1"}'),
        ('{"a": 1, "a": 2}', '{"a":2}'),
        ('{"a": NaN}', '{"a":NaN}'),
        ("[" * 100_000, "[" * 100_001),
        ("a b", "a  b"),
        ("A", "a"),
        ("Scheduled f4af for 02:00 (in 12d 16h)", "Scheduled 91c0 for 02:00 (in 3d 2h)"),
        ("true", "1"),
    ],
)
def test_anything_else_is_divergent(recorded, now):
    assert found(recorded, now) == ("divergent", ())


def test_a_text_inside_json_has_the_same_harmless_differences():
    kind, notes = found(f'{{"name": "{NFC}"}}', f'{{"name": "{NFD}"}}')

    assert (kind, notes) == ("cosmetic", ("unicode form",))


def test_a_place_is_volatile_only_where_it_was_declared_and_there_on_both_sides():
    recorded, now = '{"at": "10:00", "n": 1}', '{"at": "11:30", "n": 1}'

    assert found(recorded, now) == ("divergent", ())
    assert found(recorded, now, "/at") == ("volatile", ("/at is volatile",))
    assert found(recorded, '{"n": 1}', "/at") == ("divergent", ())
    assert found(recorded, '{"at": "11:30", "n": 2}', "/at") == ("divergent", ())


def test_a_place_may_be_any_item_or_the_whole_text_and_names_are_escaped_as_in_a_pointer():
    assert found('[{"at": 1}, {"at": 2}]', '[{"at": 3}, {"at": 4}]', "/*/at")[0] == "volatile"
    assert found('[{"at": 1}, {"at": 2}]', '[{"at": 1}, {"at": 4}]', "/0/at")[0] == "divergent"
    assert found("in 12d", "in 3d", "")[0] == "volatile"
    assert found('{"a/b": 1}', '{"a/b": 2}', "/a~1b")[0] == "volatile"


def test_all_that_is_needed_together_must_be_let_pass():
    both = classify('{"at": 1, "id": "f4af"}', '{"at": 2, "id": "91c0"}', Renaming(), ("/at",))
    other_order = classify('{"at": 1, "n": 2}', '{"n": 2, "at": 3}', Renaming(), ("/at",))

    assert {kind.value for kind in both.needs} == {"volatile", "id-renamed"}
    assert {kind.value for kind in other_order.needs} == {"volatile", "json-equal"}


def test_where_two_classes_suffice_the_one_that_passes_is_taken():
    recorded, now, passing = "id f4af", "id 91c0", {ObservationClass.VOLATILE}

    assert classify(recorded, now, Renaming(), ("",)).kind is ObservationClass.ID_RENAMED
    assert classify(recorded, now, Renaming(), ("",), passing).kind is ObservationClass.VOLATILE


def test_a_known_pair_is_needed_again_and_adds_nothing():
    renaming = Renaming()
    renaming.take({"f4af": "91c0"})
    one = classify("is f4af", "is 91c0", renaming)

    assert (one.kind.value, one.notes, one.pairs) == ("id-renamed", ("f4af is 91c0",), {})


@given(st.text(), st.text())
def test_exact_is_the_same_text_and_nothing_else_and_needs_nothing(one, other):
    assert (classify(one, other, Renaming()).kind is ObservationClass.EXACT) == (one == other)


@given(st.text())
def test_rules_of_cosmetics_are_about_ends_and_forms_only(text):
    padded = unicodedata.normalize("NFD", text) + " \r\n"
    kind = classify(text, padded, Renaming()).kind

    assert kind in {ObservationClass.COSMETIC, ObservationClass.JSON_EQUAL}
    assert [kind.value for kind in PASSABLE] == ["json-equal", "cosmetic", "id-renamed", "volatile"]


@pytest.mark.parametrize("text", ["newest is f4af", '{"newest": "f4af"}', '{"f4af": 1}', "newest is 91c0"])
def test_the_recorded_text_is_another_one_where_it_names_what_has_another_name_today(text):
    renaming = Renaming()
    renaming.take({"f4af": "91c0"})
    one = classify(text, text, renaming, passing=frozenset(PASSABLE))

    assert one.kind is ObservationClass.DIVERGENT
    assert one.notes[0].startswith("f4af was 91c0 before, and")
    assert classify("the newest", "the newest", renaming).kind is ObservationClass.EXACT


def test_json_written_otherwise_denies_a_renaming_as_well():
    renaming = Renaming()
    renaming.take({"f4af": "91c0"})

    for recorded, now in [('{"a": "f4af"}', '{"a":"f4af"}'), ('{"f4af": 1, "b": 2}', '{"b": 2, "f4af": 1}')]:
        assert classify(recorded, now, renaming, passing=frozenset(PASSABLE)).kind is ObservationClass.DIVERGENT
    assert (
        classify('{"a": "f4af", "b": 1}', '{"a": "f4af", "b": 1}', renaming, ["/a"]).kind is ObservationClass.VOLATILE
    )


def test_of_the_places_that_were_declared_only_those_that_are_there_are_named():
    assert found('{"at": 1}', '{"at": 2}', "/nothere", "/at", "/nope/deep") == ("volatile", ("/at is volatile",))
