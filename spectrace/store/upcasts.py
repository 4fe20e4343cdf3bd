"""Upcasts: one pure function per (type, version) that turns a decoded body into the next version's.

Stored bytes are never rewritten: an old event is brought up to date each time it is read. A function takes and
returns the body as a dictionary, header fields included, texts resolved. There is none yet: every type is at version 1.

What a version is. The integer beside a type's name is its *major* version: whatever changes what a reader makes of an
event (a field renamed, dropped, retyped, a word added to a closed set) is version + 1 with its step here. A field that
a reader may ignore is a *minor* change and has no number: who does not know it keeps it, shows it, and gives the bytes
back as they were. So an event is one of three: of a known type and version, perhaps with more fields; of a type that
is not known, kept as it is; or of a newer version of a known type, which whatever interprets refuses by its number
(see `core.versions`). An event class that is renamed keeps its TYPE; a TYPE that is renamed gets a step that says so
in RENAMED.
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
