"""What spectrace is compared with in one process: the cases of ../shared/bench's scripts, their code unchanged.

A script is imported with a stand-in for its `interleave`, which takes down its cases instead of running them; they are
then run side by side with spectrace's own. What the scripts print while they are imported goes to stderr.
"""

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout, suppress
from functools import cache
from types import ModuleType

from tests.benchmarks import sources
from tests.benchmarks.corpus import Source
from tests.benchmarks.rounds import Run

LOOPS = "4"
"""How often m3a_load records the 200 episodes: 48,000 events; its default is a million."""


class _Enough(Exception):
    """The last table that is wanted was taken down; what the script does after it is left out."""


@cache
def script(name: str, last: str | None = None) -> tuple[ModuleType, Mapping[str, Run]]:
    """Return one of the scripts as a module, and its cases by name; after the table called `last` it is left."""
    sources.prepare()
    common = importlib.import_module("common")
    cases: dict[str, Run] = {}

    def taken_down(listed: Sequence[tuple[str, Run]], _rounds: int = 0, title: str = "", *_: object) -> list[object]:
        for case, run in listed:
            cases.setdefault(case, run)
        modules.append(sys.modules[name])
        if title == last:
            raise _Enough
        return []

    modules: list[ModuleType] = []
    os.environ.setdefault("LOOPS", LOOPS)
    real, argv = common.interleave, sys.argv
    common.interleave, sys.argv = taken_down, [name]
    try:
        with redirect_stdout(sys.stderr), suppress(_Enough):
            importlib.import_module(name)
    finally:
        common.interleave, sys.argv = real, argv
    return modules[0], cases


def pipeline(kind: str, episodes: Sequence[Source]) -> tuple[ModuleType, Mapping[str, Run]]:
    """Return m1d_pipeline and its cases, over these episodes."""
    module, cases = script("m1d_pipeline")
    module.eps, module.NEV = episodes, sum(map(len, episodes))
    return module, cases


def loading() -> tuple[ModuleType, Mapping[str, Run]]:
    """Return m3a_load and its cases, set to its episode 5 of 60 events."""
    module, cases = script("m3a_load", "chain verification")
    module.ep = 5
    return module, cases
