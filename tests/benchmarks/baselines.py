"""What spectrace is compared with in one process: the cases of ../shared/bench's scripts, their code unchanged.

A script is imported with a stand-in for its `interleave`, which takes down its cases instead of running them; they are
then run side by side with spectrace's own. What the scripts print while they are imported goes to stderr.
"""

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from functools import cache
from types import ModuleType
from typing import Any

from tests.benchmarks import sources
from tests.benchmarks.corpus import Source
from tests.benchmarks.rounds import Run

LOOPS = "4"
"""How often m3a_load records the 200 episodes: 48,000 events; its default is a million."""


@cache
def script(name: str) -> tuple[ModuleType, Mapping[str, Run]]:
    """Return one of the scripts as a module, and its cases by name."""
    sources.prepare()
    common = importlib.import_module("common")
    cases: dict[str, Run] = {}

    def taken_down(listed: Sequence[tuple[str, Run]], *_: object) -> list[object]:
        for title, run in listed:
            cases.setdefault(title, run)
        return []

    os.environ.setdefault("LOOPS", LOOPS)
    real, argv = common.interleave, sys.argv
    common.interleave, sys.argv = taken_down, [name]
    try:
        with redirect_stdout(sys.stderr):
            module = importlib.import_module(name)
    finally:
        common.interleave, sys.argv = real, argv
    return module, cases


def pipeline(kind: str, episodes: Sequence[Source]) -> tuple[ModuleType, Mapping[str, Run]]:
    """Return m1d_pipeline and its cases, over these episodes."""
    module, cases = script("m1d_pipeline")
    module.eps, module.NEV = episodes, sum(map(len, episodes))
    return module, cases


def loading() -> tuple[Any, Mapping[str, Run]]:
    """Return m3a_load and its cases, set to its episode 5 of 60 events."""
    module, cases = script("m3a_load")
    module.ep = 5
    return module, cases
