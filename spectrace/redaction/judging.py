"""Whether what stands in a secret's place is one: not a blank to be filled in, a constant, a placeholder or prose.

A placeholder is trusted for its own text and no further: anybody may write one, so what stands around it is judged as
if it stood there alone. That asks no key, so a recorded log is judged as it was when it was recorded.
"""

import re

from spectrace.redaction.findings import without_placeholders, words
from spectrace.redaction.names import Named, is_a_variable, named

_CONSTANTS = words(
    "true false null none nil yes no on off required optional string str text bytes int integer number object any "
    "undefined empty missing unset hidden masked redacted type password secret token key value here there is was not "
    "and or the a an your include omit same-origin"
)
_BLANK = re.compile(
    r"[*xX.\-_#•?]+|<[^>]*>|\$\{[^}]*\}?|\{\{.*\}\}|\{\w*\}|%\w+%|\$[A-Z_][A-Z0-9_]*|\$\(.*|%[sdr]", re.DOTALL
)
_TOKEN = re.compile(r"[A-Za-z0-9+/_=.~:\-]{16,}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_NAME = re.compile(r"[A-Za-z][A-Za-z_.\-]*")
_SCHEME = re.compile(r"(?:bearer|basic|digest|token|apikey|negotiate|aws4-hmac-sha256)[ \t]+", re.IGNORECASE)
_SIGNS = frozenset("!@#$%^&*+/=~?")
_PROSE_WORDS = 3
_CHOSEN = 5


def says_nothing(value: str) -> bool:
    """Whether what stands in a secret's place is none: empty, a constant, a blank to be filled in, a placeholder."""
    bare = without_placeholders(value).strip()
    if len(bare) < 2 or bare.lower() in _CONSTANTS:  # noqa: PLR2004 - one character opens nothing
        return True
    if bare is not value and not any(letter.isalnum() for letter in bare) and bare != value.strip():
        return True  # punctuation between placeholders
    return _BLANK.fullmatch(bare) is not None or (bare[0] == "$" and is_a_variable(bare[1:]))


def prose(value: str) -> bool:
    """Whether a value is a sentence about a secret: several words, no digit."""
    return value.count(" ") >= _PROSE_WORDS and not any(letter.isdigit() for letter in value)


def looks_random(value: str) -> bool:
    """Whether a value looks like a token by itself: what a weak name needs beside it."""
    if _TOKEN.fullmatch(value) is None or _UUID.fullmatch(value) is not None:
        return False
    return any(letter.isdigit() for letter in value) and any(letter.isalpha() for letter in value)


def looks_chosen(value: str) -> bool:
    """Whether a value looks like a password somebody chose, and not like a word: it has a digit or a sign inside."""
    if len(value) < _CHOSEN or any(letter.isspace() for letter in value) or says_nothing(value):
        return False
    inner = value.rstrip("?!/")
    return any(letter.isalpha() for letter in inner) and any(
        letter.isdigit() or letter in _SIGNS for letter in inner[1:]
    )


def is_secret_value(strength: Named, value: str) -> bool:
    """Whether a whole value under a name of that strength is a secret: under a secret's own, whatever it looks like."""
    match strength:
        case Named.STRONG:
            return not says_nothing(value)
        case Named.HELD:
            return not says_nothing(value) and not prose(value) and not _is_a_name(value)
        case Named.WEAK:
            return looks_random(value.strip())
        case _:
            return False


def _is_a_name(value: str) -> bool:
    """Whether a value only names a secret, as in a list of what is configured."""
    return _NAME.fullmatch(value) is not None and named(value) is Named.STRONG


def credential(value: str) -> int:
    """Return where the credential begins in a header's value: behind its scheme."""
    scheme = _SCHEME.match(value)
    return 0 if scheme is None or scheme.end() >= len(value) else scheme.end()
