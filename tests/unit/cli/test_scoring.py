"""How verdicts are to be read is said once, and in one form."""

import click
import pytest
from click.testing import CliRunner

from spectrace.cli.scoring import DECODED, reading_of, threshold_option, verdict_option
from spectrace.errors import UsageError


def typed(*arguments):
    """Return what a command gets, or what is said of it."""
    found = []

    @click.command()
    @verdict_option
    @threshold_option
    def command(verdict, threshold):
        found.append((verdict, threshold))

    result = CliRunner().invoke(command, arguments)
    return found[0] if found else result.output


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("0.50", "0.5"),
        (".5", "0.5"),
        ("1", "1"),
        ("1.0", "1"),
        ("0", "0"),
        ("01.000", "1"),
    ],
)
def test_a_threshold_is_kept_in_its_shortest_form(text, kept):
    assert typed("--threshold", text) == (None, kept)


@pytest.mark.parametrize(
    "text", ["half", "1.01", "-0.1", "nan", "inf", "", "0." + "1" * 60, "1e-999999999", "5e-1", "."]
)
def test_what_is_no_probability_is_refused(text):
    assert "expected a probability from 0 to 1, for example 0.5" in " ".join(typed("--threshold", text).split())


def test_there_are_two_ways():
    assert typed("--verdict", "scored") == ("scored", None)
    assert "'decoded', 'scored'" in typed("--verdict", "exact")


@pytest.mark.parametrize(
    ("asked", "before", "found"),
    [
        ((None, None), DECODED, DECODED),
        (("scored", None), DECODED, ("scored", "0.5")),
        (("scored", "0.7"), DECODED, ("scored", "0.7")),
        ((None, None), ("scored", "0.7"), ("scored", "0.7")),
        (("scored", None), ("scored", "0.7"), ("scored", "0.7")),
        ((None, "0.6"), ("scored", "0.7"), ("scored", "0.6")),
        (("decoded", None), ("scored", "0.7"), DECODED),
    ],
)
def test_what_nobody_says_is_as_it_was_before(asked, before, found):
    assert reading_of(*asked, before) == found


@pytest.mark.parametrize("verdict", [None, "decoded"])
def test_a_threshold_of_nothing_is_refused(verdict):
    with pytest.raises(UsageError, match=r"--threshold 0\.7 is of --verdict scored"):
        reading_of(verdict, "0.7")
