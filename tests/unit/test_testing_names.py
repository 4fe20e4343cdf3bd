import subprocess
import sys

import pytest

from spectrace import testing


def test_the_public_names_are_sorted_and_documented():
    assert list(testing.__all__) == sorted(testing.__all__) == dir(testing)
    assert [name for name in testing.__all__ if not getattr(testing, name).__doc__] == []


def test_a_name_that_is_not_there_is_told_with_those_that_are():
    with pytest.raises(AttributeError, match="has no attribute 'play_back'; its names are AgentRun, "):
        _ = testing.play_back


def test_importing_it_imports_nothing():
    program = (
        "import spectrace.testing, sys; print(sorted(name for name in sys.modules if name.startswith('spectrace')))"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert (found.stdout, found.stderr) == ("['spectrace', 'spectrace.testing']\n", "")


def test_it_is_a_public_name_of_the_package():
    program = "import spectrace; print(spectrace.testing.accept())"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert (found.stdout, found.stderr) == ('{"verdict": "accept"}\n', "")
