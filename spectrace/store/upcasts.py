"""Upcasts: one pure function per (type, version) that turns a decoded body into the next version's.

Stored bytes are never rewritten: an old event is brought up to date each time it is read. A change takes and returns
the body as a dictionary, header fields included, texts resolved. A field that came later gets the value that says
that nobody recorded it.

What a version is. The integer beside a type's name is its *major* version: whatever changes what a reader makes of an
event (a field renamed, dropped or retyped, a word added to a closed set, the type itself renamed) is a new version
with its step here. A field that a reader may ignore is a *minor* change and has no number: who does not know it keeps
it, shows it, and gives the bytes back as they were. So an event is of a known type and version, perhaps with more
fields; or of a type that is not known, kept as it is; or of a newer version of a known type, which whatever interprets
refuses by its number (`core.versions`). A class may be renamed freely: logs hold its TYPE.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, cast

Fields = dict[str, object]


class Step(NamedTuple):
    """One step: what the event becomes (a type may change its name), and how."""

    type: str
    version: int
    change: Callable[[Fields], Fields]


def _unchanged(fields: Fields) -> Fields:
    """Return the fields: the new version only has one word more."""
    return fields


def _without_prices(fields: Fields) -> Fields:
    """Say of an old episode that neither its models' prices nor how many ran beside it were recorded."""
    models = [{**cast("Fields", model), "price": None} for model in cast("list[object]", fields["models"])]
    return {**fields, "models": models, "concurrency": None}


UPCASTS: Mapping[tuple[str, int], Step] = {
    ("episode.started", 1): Step("episode.started", 2, _without_prices),
    ("reply.unusable", 1): Step("reply.unusable", 2, _unchanged),
}
"""(type, version) -> the step from it."""


def newest(type_: str, version: int, steps: Mapping[tuple[str, int], Step] = UPCASTS) -> tuple[str, int]:
    """Return the type and version that an event of this type and version is read as."""
    while (step := steps.get((type_, version))) is not None:
        type_, version = step.type, step.version
    return type_, version


def upcast(type_: str, version: int, fields: Fields, steps: Mapping[tuple[str, int], Step] = UPCASTS) -> Fields:
    """Return the fields as the newest version has them, each step after the other."""
    while (step := steps.get((type_, version))) is not None:
        fields = step.change(fields)
        type_, version = step.type, step.version
    return fields
