import pytest

from spectrace.audit.bundle_proofs import Covered
from spectrace.audit.bundle_scope import moment, named, scope
from spectrace.audit.leaves import Leaf
from spectrace.audit.standing_leaves import by_episode
from spectrace.store.manifest import Period


def leaf(name: str, at: int, status: str = "completed") -> Leaf:
    return Leaf(name, "desk", at, at + 1, status, 3, 0, "0" * 64)


LEAVES = [leaf("admin-000000000000", 1, "administrative"), leaf("a", 10), leaf("b", 20), leaf("since", 25)]
SIGNED = Covered(by_episode(LEAVES), {one.episode: one for one in LEAVES[:3]}, 1_000_000)


def asked(there: list[str], claimed: Period | None = None, wanted: Period | None = None):
    found = scope("x.zip", SIGNED, there, claimed, wanted)
    return found.summary.result, found.summary.detail, [(one.episode, one.result) for one in found.missing]


def test_a_claimed_period_is_complete_though_more_was_signed_since():
    said = (
        "it is complete for [1970-01-01T00:00:00Z, 1970-01-01T00:00:00.000030Z): every run of it that was signed for "
        "when its checkpoint was signed, 1970-01-01T00:00:01Z, is in it; 1 run of the period signed since, and not in "
        "it"
    )

    assert asked(["a", "b"], Period(0, 30)) == ("valid", said, [])


def test_a_period_that_is_asked_for_counts_before_the_claimed_one():
    result, detail, missing = asked(["b"], Period(20, 21), Period(0, 21))

    assert (result, missing) == ("invalid", [("a", "invalid")])
    assert detail.endswith(": 1 run left out")


def test_what_was_signed_since_in_a_period_that_is_asked_for_is_unknown():
    assert asked(["a", "b"], None, Period(20, None))[::2] == ("unknown", [("since", "unknown")])


@pytest.mark.parametrize(("there", "said"), [(["a", "b"], "1 run signed for is"), (["a"], "2 runs signed for are")])
def test_without_a_period_it_is_said_how_many_are_elsewhere(there, said):
    result, detail, missing = asked(there)

    assert (result, missing) == ("consistent", [])
    assert f"{said} not in it" in detail


def test_periods_and_moments_are_named_whatever_the_number():
    assert named(Period(None, None)) == "the whole log"
    assert named(Period(None, 5)) == "[the beginning, 1970-01-01T00:00:00.000005Z)"
    assert named(Period(1_000_000, None)) == "[1970-01-01T00:00:01Z, the end)"
    assert moment(10**30) == f"{10**30} us"
