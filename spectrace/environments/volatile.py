"""What an environment says of its own answers: where they differ from one run to the next without meaning anything.

A port of its own, because few have such places. A replay with live tools lets a declared place differ only where its
caller asks for that (`--accept volatile`), and names it.
"""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from spectrace.environments.environment import Environment


@runtime_checkable
class Volatile(Protocol):
    """An environment with places that differ: times, durations, counters of a machine."""

    def volatile(self) -> Mapping[str, tuple[str, ...]]:
        """Return JSON pointers into what a tool answers, by tool; `*` is any member or item, `""` the whole text."""
        ...


def volatile_places(environment: Environment) -> Mapping[str, tuple[str, ...]]:
    """Return the places that an environment declares; none where it says nothing."""
    return environment.volatile() if isinstance(environment, Volatile) else {}
