"""Which made-up identifier of a record is which of today's, and what is none."""

import pytest

from spectrace.core.renaming import Renaming

ONE, OTHER = "550e8400-e29b-41d4-a716-446655440000", "1b4e28ba-2fa1-11d2-883f-0016d3cca427"


@pytest.mark.parametrize(
    ("recorded", "found", "pairs"),
    [
        ("Scheduled f4af for 02:00", "Scheduled 91c0 for 02:00", {"f4af": "91c0"}),
        ("job-9f3a21 and job-9f3a21", "job-04bd7e and job-04bd7e", {"9f3a21": "04bd7e"}),
        (ONE, OTHER, {ONE: OTHER}),
        ("V1StGXR8 done", "KLA3nq7z done", {"V1StGXR8": "KLA3nq7z"}),
    ],
)
def test_what_looks_made_up_on_both_sides_is_a_pair(recorded, found, pairs):
    assert Renaming().between([(recorded, found)]) == pairs


@pytest.mark.parametrize(
    ("recorded", "found"),
    [
        ("in 12d 16h", "in 3d 2h"),
        ("in 120d", "in 365d"),
        ("costs 1200", "costs 1300"),
        ("on 2026-11-30T10", "on 2026-12-01T11"),
        ("order W200", "order W300"),
        ("10AM", "11PM"),
        ("Ana", "Eva"),
        ("f4af for Ana", "91c0 for Eva"),
        ("f4af f4af", "91c0 82d1"),
        ("f4af a1b2", "91c0 91c0"),
        ("f4af", "91c01"),
        ("f4af, f4af", "91c0; 91c0"),
        (ONE, "550e8400-e29b-41d4-a716-44665544000g"),
    ],
)
def test_numbers_dates_names_and_contradictions_are_no_renaming(recorded, found):
    assert Renaming().between([(recorded, found)]) is None


@pytest.mark.parametrize("known", ["look at f4af", "look at 91c0"])
def test_what_stood_there_before_cannot_have_been_made_up_by_the_environment(known):
    assert Renaming([known]).between([("f4af", "91c0")]) is None


def test_a_pair_holds_for_the_whole_episode_in_both_directions():
    renaming = Renaming()
    renaming.take(renaming.between([("f4af", "91c0")]))

    assert renaming.between([("is f4af", "is 91c0")]) == {}
    assert renaming.between([("f4af", "f4af")]) is None
    assert renaming.between([("f4af", "b7c1")]) is None
    assert renaming.between([("b7c1", "91c0")]) is None


def test_whole_words_are_mapped_and_nothing_inside_others():
    renaming = Renaming()
    renaming.take({"f4af": "91c0"})

    assert renaming.forward('{"id": "f4af", "other": "xf4af", "name": "job_f4af"}') == (
        '{"id": "91c0", "other": "xf4af", "name": "job_91c0"}'
    )
    assert renaming.back("91c0, 91c01") == "f4af, 91c01"


def test_a_word_that_stays_itself_cannot_be_a_pair_in_the_same_text():
    assert Renaming().between([("f4af 91c0", "91c0 91c0")]) is None
    assert Renaming().between([("f4af f4af", "f4af 91c0")]) is None
