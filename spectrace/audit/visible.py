r"""Recorded text is hostile: this makes every control character of it visible, for terminals and pages alike.

Terminal escapes, other C0 and C1 controls, bidirectional overrides, invisible separators and lone surrogates come out
as `\x1b`, `\u202e` and the like. A backslash stays as it is: the result is for eyes, the exact bytes are in the log.
"""

import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories that draw nothing of their own, or move what others draw."""


def visible(text: str, *, lines: bool = False) -> str:
    """Return the text with nothing hidden in it; `lines` lets line breaks and tabs stand (a tab as four spaces)."""
    if text.isprintable():
        return text
    return "".join(_shown(character, lines=lines) for character in text)


def one_line(text: str) -> str:
    """Return the text on one line: line breaks as `⏎`, everything else that is hidden made visible."""
    return "".join("⏎" if character == "\n" else _shown(character, lines=False) for character in text)


def shortened(text: str, limit: int) -> str:
    """Return at most `limit` characters; a cut says how many are missing."""
    if len(text) <= limit:
        return text
    mark = f"… (+{len(text) - limit} characters)"
    kept = max(0, limit - len(mark))
    return f"{text[:kept]}… (+{len(text) - kept} characters)"


def _shown(character: str, *, lines: bool) -> str:
    if lines and character == "\n":
        return character
    if lines and character == "\t":
        return "    "
    if unicodedata.category(character) not in _HIDDEN:
        return character
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
