import json
from pathlib import Path

import pytest

from spectrace.core.digest import digest
from spectrace.store.schemas import versions

SHIPPED = Path(__file__).resolve().parents[3] / "schemas" / "events"


def test_every_type_and_version_is_listed(line):
    items = line.items("schema")

    assert [(item["type"], item["version"]) for item in items] == versions()


def test_an_item_names_the_file_by_its_digest(line):
    found = {item["type"]: item["digest"] for item in line.items("schema")}

    assert found["verdict.given"] == digest((SHIPPED / "verdict.given.v1.json").read_bytes())


def test_people_see_what_each_type_says(line):
    result = line("schema")

    assert (result.exit_code, "verdict.given" in result.stdout, "The strong model's review." in result.stdout) == (
        0,
        True,
        True,
    )


def test_one_schema_is_printed_as_its_file_is(line):
    result = line("schema", "verdict.given", "--version", "1")

    assert (result.exit_code, result.stdout) == (0, (SHIPPED / "verdict.given.v1.json").read_text())


def test_the_newest_version_is_meant_where_none_is_named(line):
    (item,) = line.items("schema", "act.completed")

    assert (item["version"], item["schema"]) == (1, json.loads((SHIPPED / "act.completed.v1.json").read_text()))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("verdict.givn",), "no event is of type 'verdict.givn' (did you mean verdict.given?)"),
        (("verdict.given", "--version", "2"), "no schema of 'verdict.given' version 2: this spectrace has 1."),
        (("verdict.given", "--version", "x"), "'x' is not a valid integer"),
        (("--version", "1"), "say which, `spectrace schema EVENT`"),
    ],
)
def test_what_is_not_there_is_refused_by_name(line, arguments, said):
    result = line("schema", *arguments)

    assert (result.exit_code, result.stdout, said in " ".join(result.stderr.split())) == (2, "", True)
