"""Which words have occurred in an episode: what `check` needs to object to an id that nobody ever said.

A word is a run of letters, digits and underscores, compared without case. An error that answers a call tells nothing by
repeating the call's own arguments, so those are left out: an invented id does not become known by being refused.
"""

import re
from collections.abc import Iterable

_WORD = re.compile(r"\w+")
_DIGITS = re.compile(r"\d{4,}")
_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(word.strip("_").casefold() for word in _WORD.findall(text))


class Seen:
    """The words that the request, the user and the tools have said so far."""

    def __init__(self, *texts: str) -> None:
        """Begin with these texts."""
        self._words: set[str] = set()
        self._squeezed: list[str] = []
        for text in texts:
            self.add(text)

    def add(self, text: str, echo: str = "") -> None:
        """Learn a text's words; those that are in `echo` too are not news."""
        new = words(text) - words(echo)
        self._words |= new
        self._squeezed.append("" if echo else _squeezed(text))

    def __contains__(self, id_: object) -> bool:
        """Whether every word of an id has occurred."""
        return words(str(id_)) <= self._words

    def unseen(self, ids: Iterable[str]) -> list[str]:
        """Return the ids that have not occurred, in order."""
        return [id_ for id_ in ids if id_ not in self]

    def loosely(self, id_: str) -> bool:
        """Whether an id may have been meant: also spelt out (M I A), or by its number alone (2378156 for #W2378156).

        For ids that people say aloud: a false objection costs a good repair.
        """
        if id_ in self:
            return True
        spelt = _squeezed(id_)
        number = max(_DIGITS.findall(id_), key=len, default=None)
        return any(spelt in text or (number is not None and number in text) for text in self._squeezed)


def _squeezed(text: str) -> str:
    return _NOT_ALPHANUMERIC.sub("", text).casefold()
