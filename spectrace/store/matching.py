"""Looking for a text in whatever was recorded: in plain, inside JSON inside JSON, percent-encoded, in a blob.

Only values are looked at, never the names of fields: they are ours. What is encoded in another way (base64, packed
bytes) is not found. Pure, apart from what it is given.
"""

import json
import re
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote

from spectrace.errors import StoreError, UsageError
from spectrace.store.blobs import REFERENCE
from spectrace.store.decoding import parse
from spectrace.store.texts import MARK, Hole, holes

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_PLAIN = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_DEPTH = 8
"""How often JSON may stand as text inside JSON."""

Resolve = Callable[[set[str]], dict[str, str]]
"""Returns the texts of blobs by digest; those that are gone are left out."""


@dataclass(frozen=True, slots=True)
class Needle:
    """What is looked for: a text as it stands, or a regular expression."""

    text: str
    regex: bool = False
    ignore_case: bool = False
    _finds: Callable[[str], bool] = field(init=False, repr=False, compare=False)
    _bytes: bytes | None = field(init=False, repr=False, compare=False)
    """What must stand in the stored bytes where nothing of them is escaped; None where that cannot be said."""

    def __post_init__(self) -> None:
        """Make ready; raise UsageError for what would match everything, or is no expression."""
        try:
            expression = self.text if self.regex else re.escape(self.text)
            pattern = re.compile(expression, re.IGNORECASE if self.ignore_case else 0)
        except re.error as error:
            raise UsageError(f"--matching {self.text[:80]!r} is no regular expression: {error}.") from None
        if not self.text or pattern.search(""):
            raise UsageError(f"--matching {self.text[:80]!r} matches everything; name a text.")
        folded = self.text.casefold()
        finds: Callable[[str], bool] = lambda text: pattern.search(text) is not None  # noqa: E731 - one of three
        if not self.regex:
            finds = (lambda text: folded in text.casefold()) if self.ignore_case else (lambda text: self.text in text)
        object.__setattr__(self, "_finds", finds)
        plain = not self.regex and not self.ignore_case and '"' not in self.text and self.text.isprintable()
        object.__setattr__(self, "_bytes", self.text.encode("utf-8", "surrogatepass") if plain else None)

    def in_text(self, text: str) -> bool:
        """Whether it stands in a text, as it is or escaped."""
        return any(map(self._finds, forms(text)))

    def in_blob(self, data: bytes) -> bool:
        """Whether it stands in a blob's bytes, whatever codec they have."""
        return self._may(data) and self.in_text(data.decode("utf-8", "surrogateescape"))

    def in_body(self, body: bytes, hit: Container[str], resolve: Resolve) -> bool:
        """Whether it stands in a stored body, or in a text that it refers to (`hit` are those blobs that hold it)."""
        if not self._may(body) and MARK not in body:
            return False
        try:
            value = parse(body)
        except StoreError:  # damaged: no JSON any more
            return self.in_text(body.decode("utf-8", "surrogateescape"))
        if any(name in hit for name in referred(value)) or any(map(self.in_text, leaves(value))):
            return True
        return '"' in self.text and not self.regex and self._across(value, resolve)

    def _may(self, data: bytes) -> bool:
        return self._bytes is None or self._bytes in data or b"\\" in data or b"%" in data

    def _across(self, value: object, resolve: Resolve) -> bool:
        """Whether it stands in the body as a whole, with its texts in place: it may begin in one and end in another."""
        return self.in_text(json.dumps(resolved(value, resolve), ensure_ascii=False, separators=(",", ":")))


def forms(text: str) -> Iterator[str]:
    """Yield a text, and what it says with its JSON escapes and its percent signs read, as often as there are any."""
    for _ in range(_DEPTH):
        yield text
        if "%" in text:
            yield unquote(text)
        if "\\" not in text:
            return
        plain = _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else _PLAIN.get(found[2], found[2]), text)
        text = plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # escaped halves of a pair joined


def leaves(value: object) -> Iterator[str]:
    """Yield every text that stands in a parsed body itself."""
    match value:
        case str():
            yield value
        case dict() if REFERENCE not in value:
            for item in value.values():
                yield from leaves(item)
        case list():
            for item in value:
                yield from leaves(item)
        case _:
            return


def referred(value: object) -> list[str]:
    """Return the digests of the blobs that a parsed body refers to."""
    found: list[Hole] = []
    holes([value], found)
    return [digest for _, _, digest, _ in found]


def resolved(value: object, resolve: Resolve) -> object:
    """Return a parsed body with its texts in their places; those that are gone are empty. The value is used up."""
    whole = [value]
    found: list[Hole] = []
    holes(whole, found)
    texts = resolve({digest for _, _, digest, _ in found}) if found else {}
    for inside, at, digest, _ in found:
        inside[at] = texts.get(digest, "")
    return whole[0]


def any_of(needles: Iterable[Needle], text: str) -> bool:
    """Whether one of them stands in a text."""
    said = list(forms(text))
    return any(one._finds(form) for form in said for one in needles)  # noqa: SLF001 - its own module
