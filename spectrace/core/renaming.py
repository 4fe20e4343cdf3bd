"""Identifiers that an environment makes up anew at every run: which recorded one is which of today's. Pure.

A *renaming* is a bijection that holds over a whole episode. A pair is taken up only where nothing else can be meant:
both sides are one run of letters and digits (or a UUID) of equal length that looks made up, neither side was ever seen
before outside the pair, and some place at which they differ holds a letter: another number, date or price is another
value. Whatever contradicts a pair that was taken up is no renaming.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_TOKEN = re.compile(rf"{_UUID}|[A-Za-z0-9]+", re.ASCII)
_IS_UUID = re.compile(_UUID, re.ASCII)
_IS_HEX = re.compile(r"[0-9a-fA-F]+", re.ASCII)
_SHORTEST_HEX = 4
_SHORTEST = 8
"""Of one with other letters: `10AM` and `11PM` are no identifiers."""

Sides = tuple[str, str]
"""A text as recorded, and as found now."""


class Renaming:
    """The pairs of one episode so far, and every word that was seen outside them."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        """Begin with texts that stood there before the environment said anything: the request, the instructions."""
        self.pairs: dict[str, str] = {}
        """Recorded identifier -> today's."""
        self._back: dict[str, str] = {}
        self._known: set[str] = set()
        for text in known:
            self.saw(text)

    def saw(self, text: str) -> None:
        """Take note of words that an identifier made up later cannot be."""
        self._known.update(_TOKEN.findall(text))

    def between(self, sides: Sequence[Sides]) -> dict[str, str] | None:
        """Return the pairs that these texts add; None where no renaming makes the first of each the second."""
        added: dict[str, str] = {}
        back: dict[str, str] = {}
        same: set[str] = set()
        for recorded, found in sides:
            if _TOKEN.split(recorded) != _TOKEN.split(found):
                return None
            for old, new in zip(_TOKEN.findall(recorded), _TOKEN.findall(found), strict=True):
                paired = self.pairs.get(old) or added.get(old)
                if paired is not None or new in self._back or new in back:
                    if paired != new:
                        return None
                elif old == new:
                    same.add(old)
                elif _made_up(old, new) and not {old, new} & (self._known | same):
                    added[old], back[new] = new, old
                else:
                    return None
        return None if same & (added.keys() | back.keys()) else added

    def denied_by(self, text: str) -> str | None:
        """Return an identifier that another one has taken the place of, where a text has it as it was; else None."""
        if not self.pairs:
            return None
        words = _TOKEN.findall(text)
        return next((word for word in words if self.pairs.get(word, self._back.get(word, word)) != word), None)

    def take(self, pairs: Mapping[str, str]) -> None:
        """Hold on to pairs from here on."""
        self.pairs.update(pairs)
        self._back.update({new: old for old, new in pairs.items()})

    def forward(self, text: str) -> str:
        """Return a recorded text with today's identifiers."""
        return _replaced(text, self.pairs)

    def back(self, text: str) -> str:
        """Return a text of today with the recorded identifiers."""
        return _replaced(text, self._back)


def _replaced(text: str, names: Mapping[str, str]) -> str:
    return _TOKEN.sub(lambda found: names.get(found[0], found[0]), text) if names else text


def _made_up(old: str, new: str) -> bool:
    """Whether two different words can be one random identifier each."""
    if len(old) != len(new):
        return False
    if "-" in old or "-" in new:
        return _IS_UUID.fullmatch(old) is not None and _IS_UUID.fullmatch(new) is not None
    is_hex = _IS_HEX.fullmatch(old) is not None and _IS_HEX.fullmatch(new) is not None
    both = old + new
    mixed = any(map(str.isdigit, both)) and any(map(str.isalpha, both))
    lettered = any(one != other and (one.isalpha() or other.isalpha()) for one, other in zip(old, new, strict=True))
    return len(old) >= (_SHORTEST_HEX if is_hex else _SHORTEST) and mixed and lettered
