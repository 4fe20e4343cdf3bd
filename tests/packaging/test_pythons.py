"""One recording, made by this Python, read by the others that spectrace supports."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.installed import install

pytestmark = pytest.mark.packaging

OTHERS = ["3.11", "3.12", "3.13"]


def interpreter(version: str) -> str | None:
    """Find a Python of this version: on PATH, or among pyenv's."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = [shutil.which(f"python{version}"), *root.glob(f"versions/{version}.*/bin/python")]
    return next((str(found) for found in candidates if found and answers(str(found), version)), None)


def answers(candidate: str, version: str) -> bool:
    """Whether it starts and is what its name says: a shim may be there without its Python."""
    program = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([candidate, "-c", program], capture_output=True, text=True, check=False)
    return done.stdout.strip() == version


@pytest.mark.parametrize("version", [version for version in OTHERS if not sys.version.startswith(version)])
def test_an_episode_replays_the_same_on_another_python(recorded, wheel, version, tmp_path):
    found = interpreter(version)
    if found is None and os.environ.get("CI") == "true":
        pytest.fail(f"CI has no Python {version}, so nothing says that recordings can be read there")
    if found is None:
        pytest.skip(f"no Python {version} on this machine")
    other = install(wheel, "", tmp_path, found)
    shutil.copytree(recorded.directory, other.directory, dirs_exist_ok=True)

    ours = json.loads(recorded.run("replay", "--all", "--json").stdout)
    theirs = json.loads(other.run("replay", "--all", "--json").stdout)

    assert theirs == ours
    assert {item["result"] for item in theirs["items"]} == {"same"}
