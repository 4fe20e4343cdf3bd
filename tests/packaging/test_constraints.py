"""constraints.txt pins everything that the project asks for, and says nothing about where it comes from."""

import re
import tomllib

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.packaging.installed import ROOT

LINES = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
PINS = {canonicalize_name(pin.name): pin for pin in map(Requirement, LINES)}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ASKED = [
    Requirement(text)
    for name, listed in {"": PROJECT["dependencies"], **PROJECT["optional-dependencies"]}.items()
    if name != "sglang"  # an extra of its own, outside `all`: 11 GB that no test of ours installs
    for text in listed
]


def test_each_line_is_one_exact_version():
    assert [
        line for line in LINES if not re.fullmatch(r"[\w.-]+==[\w.]+(; python_version [<>=]+ \"3\.\d+\")?", line)
    ] == []


def test_lines_are_sorted_and_name_each_package_once():
    assert sorted(LINES, key=str.lower) == LINES
    assert len(PINS) == len(LINES)


def test_everything_that_the_project_asks_for_is_pinned_to_a_version_that_it_accepts():
    asked = [one for one in ASKED if canonicalize_name(one.name) != PROJECT["name"]]
    unmet = [str(one) for one in asked if not pinned_within(one)]

    assert asked != []
    assert unmet == []


def pinned_within(asked: Requirement) -> bool:
    pin = PINS.get(canonicalize_name(asked.name))
    return pin is not None and next(iter(pin.specifier)).version in asked.specifier
