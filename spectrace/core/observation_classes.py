"""The class of an observation made again: exact, json-equal, cosmetic, id-renamed, volatile or divergent. Pure.

| class | the recorded text and today's |
|---|---|
| `exact` | are the same, character by character, and deny no renaming |
| `json-equal` | are JSON (RFC 8259, no name twice) of equal values, written otherwise; `2` is not `2.0` |
| `cosmetic` | are the same once some of RULES are applied to both, inside JSON to every text; each is named |
| `id-renamed` | are the same under a renaming that holds over the whole episode (`renaming`); each pair is named |
| `volatile` | are the same but for places that were declared volatile; each place is named |
| `divergent` | are anything else |

The first class that suffices is the observation's. Where several are needed together it is the last of them, and
`needs` has them all: what is let pass must let each of them pass. Error flags, ends and fingerprints have no classes.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import combinations, product

from spectrace.core.renaming import Renaming, Sides
from spectrace.core.sameness import json_value

_SPACE_AT_END = re.compile(r"[ \t]+(?=\r|\n|\Z)")
_ANY = "*"


class ObservationClass(StrEnum):
    """From the same to another one."""

    EXACT = "exact"
    JSON_EQUAL = "json-equal"
    COSMETIC = "cosmetic"
    ID_RENAMED = "id-renamed"
    VOLATILE = "volatile"
    DIVERGENT = "divergent"


ORDER = tuple(ObservationClass)
PASSABLE = ORDER[1:-1]
"""What a caller may let pass; `exact` always does and `divergent` never."""

RULES: Mapping[str, Callable[[str], str]] = {
    "line ends": lambda text: text.replace("\r\n", "\n").replace("\r", "\n"),
    "trailing space": lambda text: _SPACE_AT_END.sub("", text).rstrip("\r\n"),
    "unicode form": lambda text: unicodedata.normalize("NFC", text),
}
"""The harmless differences of a text, by name: CRLF; spaces, tabs and empty lines at an end; NFC or NFD."""
_SUBSETS = [chosen for size in range(len(RULES) + 1) for chosen in combinations(RULES, size)]


@dataclass(frozen=True, slots=True)
class Classified:
    """The class of an observation, what has to be let pass for it, and what was found, in words."""

    kind: ObservationClass
    needs: frozenset[ObservationClass] = frozenset()
    notes: tuple[str, ...] = ()
    pairs: Mapping[str, str] = field(default_factory=dict)
    """Identifiers that this observation adds to the renaming."""


@dataclass(frozen=True, slots=True)
class _View:
    """One way to look at both texts."""

    json: bool
    rules: tuple[str, ...]
    renamed: bool
    volatile: bool

    @property
    def needs(self) -> frozenset[ObservationClass]:
        used = {
            ObservationClass.JSON_EQUAL: self.json,
            ObservationClass.COSMETIC: bool(self.rules),
            ObservationClass.ID_RENAMED: self.renamed,
            ObservationClass.VOLATILE: self.volatile,
        }
        return frozenset(kind for kind, needed in used.items() if needed)

    @property
    def cost(self) -> tuple[int, int, int]:
        return max(map(ORDER.index, self.needs), default=0), len(self.needs), len(self.rules)


_VIEWS = sorted(
    (_View(*chosen) for chosen in product((False, True), _SUBSETS, (False, True), (False, True))),
    key=lambda view: view.cost,
)
_LOOSEST = [_View(json, tuple(RULES), renamed=True, volatile=True) for json in (False, True)]


def classify(
    recorded: str,
    found: str,
    renaming: Renaming,
    volatile: Sequence[str] = (),
    passing: AbstractSet[ObservationClass] = frozenset(),
) -> Classified:
    """Return the class of a text that an environment gave; `volatile` are JSON pointers, `*` any member or item.

    The empty pointer is the whole text. Where more than one class suffices, it is the first whose needs all are
    `passing`, else the first. The renaming is read, not changed.
    """
    denied = renaming.denied_by(recorded) if recorded == found else None
    if recorded == found and denied is None:
        return Classified(ObservationClass.EXACT)
    texts = {False: (recorded, found), True: _parsed(recorded, found)}
    if all(_same(texts[view.json], view, renaming, volatile) is None for view in _LOOSEST):
        return Classified(ObservationClass.DIVERGENT, notes=_denial(denied, renaming))
    first: Classified | None = None
    for view in _VIEWS:
        if (same := _same(texts[view.json], view, renaming, volatile)) is not None:
            there = [pointer for pointer in volatile if _is_there(texts[view.json], pointer)]
            one = _classified(view, same, renaming, (recorded, found), there)
            if one.needs <= passing:
                return one
            first = first or one
    return first or Classified(ObservationClass.DIVERGENT)


def _classified(view: _View, same: "_Same", renaming: Renaming, sides: Sides, volatile: Sequence[str]) -> Classified:
    needs = view.needs - ({ObservationClass.JSON_EQUAL} if view.volatile and same.ordered else set())
    both = {**renaming.pairs, **same.pairs}
    names = sorted(old for old in both if old in sides[0]) if view.renamed else []
    notes = (
        *view.rules,
        *(f"{old} is {both[old]}" for old in names),
        *(f"{pointer or 'the whole text'} is volatile" for pointer in (volatile if view.volatile else ())),
    )
    return Classified(max(needs, key=ORDER.index), frozenset(needs), notes, same.pairs)


def _denial(word: str | None, renaming: Renaming) -> tuple[str, ...]:
    """Say which pair the same text contradicts."""
    if word is None:
        return ()
    both = [(old, new) for old, new in renaming.pairs.items() if word in {old, new}]
    return tuple(f"{old} was {new} before, and {word} stands here as it was recorded" for old, new in both)


def _parsed(recorded: str, found: str) -> tuple[object, object] | None:
    try:
        return json_value(recorded, strict=True), json_value(found, strict=True)
    except (ValueError, RecursionError):
        return None


@dataclass(frozen=True, slots=True)
class _Same:
    """Two values are the same in a view: what it adds to the renaming, and whether members stand in one order."""

    pairs: Mapping[str, str]
    ordered: bool


def _same(
    sides: tuple[object, object] | None, view: _View, renaming: Renaming, volatile: Sequence[str]
) -> _Same | None:
    if sides is None:
        return None
    recorded, found = sides
    if view.volatile:
        for pointer in volatile:
            recorded, found = _without(recorded, found, _steps(pointer))
    texts: list[Sides] = []
    try:
        ordered = _walk(recorded, found, texts)
    except (_Differs, RecursionError):
        return None
    for name in view.rules:
        texts = [(RULES[name](one), RULES[name](other)) for one, other in texts]
    if not view.renamed:
        # A recorded identifier that stands unchanged where it was another one before is not the same thing.
        same = all(one == other and renaming.denied_by(one) is None for one, other in texts)
        return _Same({}, ordered) if same else None
    pairs = renaming.between(texts)
    return None if pairs is None else _Same(pairs, ordered)


class _Differs(Exception):
    """Two values differ in more than their texts."""


def _walk(recorded: object, found: object, texts: list[Sides]) -> bool:
    """Collect the texts of two values of one shape; return whether their members stand in the same order."""
    match recorded, found:
        case str(), str():
            texts.append((recorded, found))
        case ("str", str(one)), ("str", str(other)):
            texts.append((one, other))
        case dict(), dict() if recorded.keys() == found.keys():
            texts += [(name, name) for name in recorded]
            inside = [_walk(recorded[name], found[name], texts) for name in recorded]
            return list(recorded) == list(found) and all(inside)
        case list(), list() if len(recorded) == len(found):
            items = [_walk(one, other, texts) for one, other in zip(recorded, found, strict=True)]
            return all(items)
        case _ if recorded != found:
            raise _Differs
    return True


def _steps(pointer: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _is_there(sides: tuple[object, object] | None, pointer: str) -> bool:
    """Whether a place that was declared volatile is one of these values': a note names no other."""
    return sides is not None and _without(*sides, _steps(pointer)) != sides


def _without(recorded: object, found: object, steps: Sequence[str]) -> tuple[object, object]:
    """Return both values without a place; it stays where only one side has it."""
    if not steps:
        return None, None
    step, *rest = steps
    match recorded, found:
        case dict(), dict():
            names: list[object] = [name for name in recorded if name in found and step in {name, _ANY}]
            one, other = dict(recorded), dict(found)
        case list(), list():
            both = min(len(recorded), len(found))
            names = [number for number in range(both) if step in {str(number), _ANY}]
            one, other = dict(enumerate(recorded)), dict(enumerate(found))
        case _:
            return recorded, found
    for name in names:
        one[name], other[name] = _without(one[name], other[name], rest)
    if isinstance(recorded, list):
        return list(one.values()), list(other.values())
    return one, other
