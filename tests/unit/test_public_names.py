import subprocess
import sys

import spectrace


def test_the_public_names_are_sorted():
    assert list(spectrace.__all__) == sorted(spectrace.__all__)


def test_every_public_name_is_there_and_documented():
    undocumented = [name for name in spectrace.__all__ if not getattr(spectrace, name).__doc__]

    assert undocumented == []


def test_everything_that_is_imported_for_users_is_public():
    ours = {
        name
        for name, value in vars(spectrace).items()
        if not name.startswith("_") and getattr(value, "__module__", "").startswith("spectrace.")
    }

    assert ours <= set(spectrace.__all__)


def test_importing_spectrace_imports_no_optional_package_and_prints_nothing():
    heavy = ["streamlit", "pandas", "psycopg", "xllamacpp", "tau2", "anthropic", "mcp", "torch"]
    program = f"import spectrace, sys; print([name for name in {heavy} if name in sys.modules])"

    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert (found.stdout, found.stderr) == ("[]\n", "")
