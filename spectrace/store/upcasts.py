"""Upcasts: one pure function per (type, version) that turns a decoded body into the next version's.

Stored bytes are never rewritten: an old event is brought up to date each time it is read. A function takes and
returns the body as a dictionary, header fields included, texts resolved. There is none yet: every type is at version 1.
"""

from collections.abc import Callable, Mapping

Fields = dict[str, object]
Upcast = Callable[[Fields], Fields]

UPCASTS: Mapping[tuple[str, int], Upcast] = {}
"""(type, version) -> the step to version + 1."""


def upcast(
    type_: str, version: int, newest: int, fields: Fields, steps: Mapping[tuple[str, int], Upcast] = UPCASTS
) -> Fields:
    """Return the fields as the newest version has them; a missing step is a mistake in this package."""
    for old in range(version, newest):
        fields = steps[type_, old](fields)
    return fields
