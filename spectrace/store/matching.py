"""Looking for a text in whatever was recorded: in plain, inside JSON inside JSON, percent-encoded, in a blob.

HTML entities and quoted-printable are read too; a text that is not a regular expression is found in base64 as well,
wherever it begins there, where `encoded` asks for that. Only values are looked at, never the names of fields: they are
ours. What else there is, `NOT_FOUND` says to whoever erases. A user's expression is searched for within a time limit.
"""

import html
import json
import quopri
import re
from base64 import b64encode
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote

from spectrace.errors import StoreError, UsageError
from spectrace.store.blobs import REFERENCE
from spectrace.store.bounded_regex import BoundedRegex
from spectrace.store.decoding import parse
from spectrace.store.texts import MARK, Hole, holes

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_PLAIN = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_DEPTH = 8
"""How often JSON may stand as text inside JSON."""

_QUOTED = re.compile(r"=(?:[0-9A-Fa-f]{2}|\r?\n)")
_ESCAPES = (b"\\", b"%", b"&", b"=")
"""One of these stands in whatever says a text in another way than its letters; base64 apart."""
_SHORTEST = 6
"""Of what is looked for in base64: shorter ones would be found in what says something else."""

NOT_FOUND = (
    "other spellings of the text are not looked for: in hex, in base64 that is broken into lines or itself encoded, "
    "with other Unicode forms of its letters, split over two texts, in packed or encrypted bytes"
)

Resolve = Callable[[set[str]], dict[str, str]]
"""Returns the texts of blobs by digest; those that are gone are left out."""


@dataclass(frozen=True, slots=True)
class Needle:
    """What is looked for: a text as it stands, or a regular expression."""

    text: str
    regex: bool = False
    ignore_case: bool = False
    encoded: bool = False
    """Whether its base64 is looked for as well."""
    _finds: Callable[[str], bool] = field(init=False, repr=False, compare=False)
    _bytes: bytes | None = field(init=False, repr=False, compare=False)
    """What must stand in the stored bytes where nothing of them is escaped; None where that cannot be said."""
    _codes: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """What stands in base64 that holds it."""

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
        finds: Callable[[str], bool]
        if self.regex:
            finds = BoundedRegex(expression, pattern.flags).found
        else:
            finds = (lambda text: folded in text.casefold()) if self.ignore_case else (lambda text: self.text in text)
        object.__setattr__(self, "_finds", finds)
        object.__setattr__(self, "_codes", _base64(self.text) if self.encoded and not self.regex else ())
        plain = not self.regex and not self.ignore_case and '"' not in self.text and self.text.isprintable()
        object.__setattr__(self, "_bytes", self.text.encode("utf-8", "surrogatepass") if plain else None)

    def in_text(self, text: str) -> bool:
        """Whether it stands in a text, as it is or escaped."""
        return any(self._finds(form) or any(code in form for code in self._codes) for form in forms(text))

    @property
    def not_found(self) -> str:
        """What is not looked for, in words."""
        said = NOT_FOUND
        if self.regex:
            said = said.replace("base64 that is broken into lines or itself encoded", "base64")
        elif not self.ignore_case:
            said += ", in upper and lower case otherwise (--ignore-case)"
        return said

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
        if self._bytes is None or self._bytes in data or any(one in data for one in _ESCAPES):
            return True
        return any(code.encode() in data for code in self._codes)

    def _across(self, value: object, resolve: Resolve) -> bool:
        """Whether it stands in the body as a whole, with its texts in place: it may begin in one and end in another."""
        return self.in_text(json.dumps(resolved(value, resolve), ensure_ascii=False, separators=(",", ":")))


def forms(text: str) -> Iterator[str]:
    """Yield a text, and what it says with its JSON escapes read, as often as there are any; each with others read."""
    for _ in range(_DEPTH):
        yield text
        if "%" in text:
            yield unquote(text)
        if "&" in text:
            yield html.unescape(text)
        if "=" in text and _QUOTED.search(text):
            yield quopri.decodestring(text.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")
        if "\\" not in text:
            return
        plain = _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else _PLAIN.get(found[2], found[2]), text)
        text = plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # escaped halves of a pair joined


def _base64(text: str) -> tuple[str, ...]:
    """Return what stands in the base64 of any text that holds this one: it may begin at each of three places."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) < _SHORTEST:
        return ()
    found = []
    for shift in range(3):
        whole = b64encode(bytes(shift) + data).decode()
        first, beyond = -(-shift * 8 // 6), (shift + len(data)) * 8 // 6
        found += [whole[first:beyond], whole[first:beyond].replace("+", "-").replace("/", "_")]
    return tuple(dict.fromkeys(found))


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
