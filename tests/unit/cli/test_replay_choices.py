"""What goes with what: a contradiction is refused, and so is an option that would do nothing."""

import pytest

from spectrace.cli.replay_choices import Given, mode_of
from spectrace.core.observation_classes import PASSABLE
from spectrace.errors import UsageError


def refused(**given):
    with pytest.raises(UsageError) as error:
        mode_of(Given(**given))
    return str(error.value)


def test_without_anything_all_comes_from_the_record():
    mode = mode_of(Given())

    assert (mode.tools, mode.models, mode.passing.classes, mode.passing.places) == (False, False, frozenset(), ())


@pytest.mark.parametrize("tools", [None, "cached"])
def test_live_models_act_on_cached_answers(tools):
    mode = mode_of(Given(models="live", tools=tools))

    assert (mode.tools, mode.models) == (False, True)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"tools": "live", "models": "live"}, "fork EP:0"),
        ({"tools": "recorded", "models": "live"}, "--tools cached"),
        ({"tools": "cached"}, "for --models live"),
        ({"tools": "live", "check": True}, "--check runs nothing"),
        ({"models": "live", "check": True}, "--check runs nothing"),
        ({"env": "shop"}, "--env is for"),
        ({"env": "shop", "models": "live"}, "--env is for"),
        ({"frozen": True}, "--frozen is for"),
        ({"accept": "cosmetic"}, "--accept is for"),
        ({"volatile": ("t:/a",)}, "--volatile is for"),
        ({"lenient": True}, "--lenient is for"),
        ({"weak": "w"}, "--weak is for"),
        ({"strong": "s", "tools": "live"}, "--strong is for"),
        ({"max_cost_usd": "1"}, "--max-cost-usd is for"),
        ({"concurrency": 2}, "--concurrency is for"),
        ({"tools": "live", "lenient": True, "accept": "cosmetic"}, "give one"),
        ({"tools": "live", "accept": "cosmetics"}, "found 'cosmetics'"),
        ({"tools": "live", "accept": "exact"}, "accepted is json-equal, cosmetic, id-renamed, volatile, found"),
        ({"tools": "live", "volatile": ("/at",)}, "a volatile place is TOOL:POINTER"),
        ({"tools": "live", "volatile": ("get:at",)}, "a volatile place is TOOL:POINTER"),
        ({"options": ("kk=1",)}, "-o takes KEY=VALUE"),
    ],
)
def test_contradictions_are_refused_in_words(given, words):
    assert words in refused(**given)


def test_classes_and_places_are_read():
    mode = mode_of(Given(tools="live", accept="cosmetic, id-renamed", volatile=("get:/at", "poll:")))

    assert {kind.value for kind in mode.passing.classes} == {"cosmetic", "id-renamed"}
    assert mode.passing.places == (("get", "/at"), ("poll", ""))


def test_lenient_is_every_class_that_may_pass():
    assert mode_of(Given(tools="live", lenient=True)).passing.classes == frozenset(PASSABLE)
