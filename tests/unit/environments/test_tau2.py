import subprocess
import sys

import pytest

from spectrace.environments.tau2 import DOMAINS, open_tau2
from spectrace.errors import UsageError


def program(text, **environ):
    """Run a program in a process of its own, where nothing of the package is imported yet."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", text], env=environ, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_domain_is_opened_by_name(domain):
    assert open_tau2(domain).prepare(open_tau2(domain).tasks()[0]).name == f"tau2:{domain}"


def test_an_unknown_domain_is_refused_with_the_known_ones():
    with pytest.raises(UsageError, match="tau2:telecom: expected a domain of airline, retail, mock"):
        open_tau2("telecom")


def test_nothing_of_the_package_is_imported_before_a_domain_is_opened():
    done = program("import sys, spectrace.environments.tau2; print({'tau2', 'loguru', 'pydantic'} & set(sys.modules))")

    assert (done.stdout, done.stderr) == ("set()\n", "")


@pytest.mark.slow
def test_opening_is_silent_and_leaves_the_environment_and_litellm_alone():
    done = program(
        "import os, sys; before = dict(os.environ)\n"
        "from spectrace.environments.tau2 import open_tau2; open_tau2('mock')\n"
        "print('litellm' in sys.modules, before == dict(os.environ))"
    )

    assert (done.stdout, done.stderr) == ("False True\n", "")


@pytest.mark.slow
def test_a_dot_env_file_is_not_read(tmp_path):
    (tmp_path / ".env").write_text("TAU2_TEST_KEY=leaked\n")
    done = program(
        "import os, dotenv\n"
        f"dotenv.main.find_dotenv = lambda *_, **__: {str(tmp_path / '.env')!r}\n"
        "from spectrace.environments.tau2 import open_tau2; open_tau2('mock')\n"
        "print(os.environ.get('TAU2_TEST_KEY'))"
    )

    assert done.stdout == "None\n"


def test_without_the_package_the_extra_is_named():
    done = program(
        "import sys; sys.modules['tau2'] = None\n"
        "from spectrace.environments.tau2 import open_tau2\n"
        "from spectrace.errors import MissingExtra\n"
        "try: open_tau2('airline')\n"
        "except MissingExtra as error: print(error)"
    )

    assert done.stdout == "tau2:airline needs a package that is not installed: pip install 'spectrace[tau2]'.\n"
