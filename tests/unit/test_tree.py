"""The tree's own rules: each module has its mirror test, none is long, nothing names the machine it was written on."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HARD_LIMIT = 400

WITHOUT_MIRROR: dict[str, str] = {
    "spectrace/audit/verifiable.py": "tests/unit/audit/test_integrity.py: a port",
    "spectrace/core/admin_events.py": "tests/unit/core/test_events.py: one vocabulary in four files",
    "spectrace/core/episode_events.py": "the same",
    "spectrace/core/fact_events.py": "the same",
    "spectrace/core/question_events.py": "the same",
    "spectrace/environments/environment.py": "tests/contract/test_environment.py: a port",
    "spectrace/models/client.py": "tests/contract/test_model_client.py: a port",
}
"""Modules tested elsewhere, and where. Shrinking: an entry that is no longer needed fails."""

WITHOUT_MODULE = {
    "tests/unit/test_public_names.py",
    "tests/unit/test_readme.py",
    "tests/unit/test_testing_names.py",
    "tests/unit/test_tree.py",
}
"""Unit tests of the project as a whole."""

OURS = ("spectrace", "viewer", "migrations", "tests")
ABSOLUTE_PATH = re.compile(r"""["'`( =](/(?:work|root|home|Users)/\w+)""")


def sources(*folders: str) -> list[Path]:
    return sorted(
        path for folder in folders for path in (ROOT / folder).rglob("*.py") if "__pycache__" not in path.parts
    )


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def mirror(module: Path) -> Path:
    return ROOT / "tests" / "unit" / module.relative_to(ROOT / "spectrace").with_name(f"test_{module.name}")


def module_of(test: Path) -> Path:
    return ROOT / "spectrace" / test.relative_to(ROOT / "tests" / "unit").with_name(test.name.removeprefix("test_"))


MODULES = [path for path in sources("spectrace") if not path.name.startswith("__")]
UNIT_TESTS = [path for path in sources("tests/unit") if path.name.startswith("test_")]


def test_every_module_has_its_mirror_test():
    missing = [name(path) for path in MODULES if not mirror(path).exists() and name(path) not in WITHOUT_MIRROR]

    assert missing == [], f"write {[name(mirror(ROOT / path)) for path in missing]}"


def test_every_exemption_is_still_needed():
    unneeded = [path for path in WITHOUT_MIRROR if mirror(ROOT / path).exists() or not (ROOT / path).exists()]

    assert unneeded == []


def test_every_unit_test_mirrors_a_module():
    orphans = [name(path) for path in UNIT_TESTS if not module_of(path).exists()]

    assert set(orphans) == WITHOUT_MODULE


def test_no_module_is_longer_than_400_lines():
    lengths = {name(path): len(path.read_text().splitlines()) for path in sources(*OURS)}

    assert {path: length for path, length in lengths.items() if length > HARD_LIMIT} == {}


def test_no_module_names_a_directory_of_its_author():
    named = {
        name(path): ABSOLUTE_PATH.findall(path.read_text()) for path in sources("spectrace", "viewer", "migrations")
    }

    assert {path: found for path, found in named.items() if found} == {}
