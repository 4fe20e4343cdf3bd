"""Texts that look like a placeholder and are none: in other case, cut apart, a character short, hidden by escapes.

Nothing is put back for them, so a write that holds one would do something that nobody asked for. To be one, a text
needs a kind that is really used and a tail of digits and letters a-f together: a file called `redacted-card-20261201`
is none.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable

from spectrace.redaction.findings import MARK, NUMBER, PLACEHOLDER, SECRET
from spectrace.redaction.json_reading import Decoded
from spectrace.redaction.json_walk import MAX_NESTED

_GAP = r"[\s\u00ad\u200b-\u200f\u2060-\u2064\ufeff]{0,2}"
"""What may have come between two characters: spaces, line ends, signs that nobody sees."""
_DASH = rf"{_GAP}[\-_\u2010-\u2015\u2212\ufe63\uff0d]{_GAP}"
_TAIL = rf"(?P<tail>[0-9a-f](?:{_GAP}[0-9a-f]){{7,14}})"


def finder(kinds: Iterable[str]) -> Callable[[str], tuple[str, ...]]:
    """Return what tells the mangled placeholders of a text, given the kinds that are used beside `secret`."""
    names = "|".join(map(_spaced, dict.fromkeys((SECRET, NUMBER, *kinds))))
    like = re.compile(rf"{_spaced(MARK[:-1])}{_DASH}(?:{names}){_DASH}{_TAIL}", re.IGNORECASE)

    def find(text: str) -> tuple[str, ...]:
        plain = Counter(PLACEHOLDER.findall(text))
        found = dict.fromkeys(_mangled(like, text))
        for _ in range(MAX_NESTED + 1):
            if "\\" not in text:
                break
            text = Decoded(text).text
            found.update(dict.fromkeys((*(Counter(PLACEHOLDER.findall(text)) - plain), *_mangled(like, text))))
        return tuple(found)

    return find


def _spaced(word: str) -> str:
    return _GAP.join(map(re.escape, word))


def _mangled(like: re.Pattern[str], text: str) -> Iterable[str]:
    for match in like.finditer(PLACEHOLDER.sub("|", text)):
        tail = match["tail"].lower()
        mixed = any(sign.isdigit() for sign in tail) and any("a" <= sign <= "f" for sign in tail)
        if mixed or match[0].startswith(MARK):
            yield match[0]
