"""Which words have occurred in an episode: what `check` needs to object to an id that nobody ever said.

A word is a run of letters, digits and underscores, compared without case. An error that answers a call tells nothing by
repeating the call's own arguments, so those are left out: an invented id does not become known by being refused.
"""

import re
from collections.abc import Iterable

_WORD = re.compile(r"\w+")


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(word.strip("_").casefold() for word in _WORD.findall(text))


class Seen:
    """The words that the request, the user and the tools have said so far."""

    def __init__(self, *texts: str) -> None:
        """Begin with these texts."""
        self._words: set[str] = set()
        for text in texts:
            self.add(text)

    def add(self, text: str, echo: str = "") -> None:
        """Learn a text's words; those that are in `echo` too are not news."""
        self._words |= words(text) - words(echo)

    def __contains__(self, id_: object) -> bool:
        """Whether every word of an id has occurred."""
        return words(str(id_)) <= self._words

    def unseen(self, ids: Iterable[str]) -> list[str]:
        """Return the ids that have not occurred, in order."""
        return [id_ for id_ in ids if id_ not in self]
