"""Secrets inside base64: a token whose decoded text holds one is a secret as a whole.

Standard and URL-safe, with padding or without, in one line or in lines as mail has them. Bytes that are no text are
left alone: nobody reads a password out of an image.
"""

import base64
import binascii
import re
from collections.abc import Iterator

from spectrace.redaction.findings import SECRET, Found
from spectrace.redaction.json_walk import Rule

_LINES = re.compile(
    r"(?<![A-Za-z0-9+/_\-=])(?:[A-Za-z0-9+/]{60,76}+\r?\n)++[A-Za-z0-9+/]{0,76}+={0,2}"
    r"|(?<![A-Za-z0-9+/_\-=])[A-Za-z0-9+/_\-]{16,}+={0,2}"
)
_OF_TOKENS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-")
_RUNS = bytes(ord("x") if byte in _OF_TOKENS else ord(" ") for byte in range(256))
_RUN = b"x" * 16
"""What a text that holds a token holds once its letters are made alike: a look at that is far cheaper."""
_URL_SAFE = str.maketrans("-_", "+/")
_MAX_NESTED = 2


def by_code(text: str, rule: Rule, depth: int = 0) -> Iterator[Found]:
    """Yield every token that holds, decoded, what `rule` finds."""
    if _RUN not in text.encode("ascii", "replace").translate(_RUNS):
        return
    for match in _LINES.finditer(text):
        decoded = _decoded(match[0])
        if decoded is None:
            continue
        if rule(decoded) or (depth < _MAX_NESTED and next(by_code(decoded, rule, depth + 1), None) is not None):
            yield Found(match.start(), match.end(), SECRET, "base64 that holds a secret")


def _decoded(token: str) -> str | None:
    """Return the text that a token stands for; None where it is none. English in base64 has letters of both cases."""
    bare = token.rstrip("=")
    if bare.islower() or bare.isupper() or bare.isdigit():
        return None
    joined = "".join(bare.split()).translate(_URL_SAFE)
    if len(joined) % 4 == 1:
        return None
    try:
        text = base64.b64decode(joined + "=" * (-len(joined) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    return text if text.replace("\n", "").replace("\t", "").replace("\r", "").isprintable() else None
