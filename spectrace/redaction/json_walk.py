r"""Secrets inside JSON text, as places in its exact bytes: what is not redacted stays as it was written.

The text is cut into tokens, never parsed into values. Each string is looked at decoded (`\u0068` hides nothing) and
with the name of its field in view; a string that holds JSON text itself is walked likewise, a few levels deep, and the
places found are carried back through every level of escapes. Counterpart of `restoring`, which walks the same way.
"""

import re
from collections.abc import Callable, Iterator

from spectrace.redaction.findings import NUMBER, SECRET, Found, beside_placeholders, merged
from spectrace.redaction.json_reading import Decoded, Literal, literals
from spectrace.redaction.judging import credential, is_secret_value, looks_chosen
from spectrace.redaction.names import Named, holds_secrets, is_header, is_plural, named

MAX_NESTED = 4
"""JSON text inside JSON text: so many levels are walked; what lies deeper is looked at as plain text."""

HIDDEN = re.compile(r"\\u00[2-7]")
"""A letter that nobody needs to escape."""
_SHORT = 6
"""Nothing is a secret by its own form in fewer characters."""
_NAME_SHOWN = 64
_DIGITS = 4
"""A number of fewer digits is nobody's secret."""

Rule = Callable[[str], list[Found]]
"""Looks at a plain text."""


def walk(text: str, rule: Rule, extra: frozenset[str] | None, depth: int = 0) -> list[Found] | None:
    """Return what is found in a JSON text; None where it is none. Without `extra` names say nothing."""
    read = literals(text, extra or frozenset())
    if read is None:
        return None
    found: list[Found] = []
    for one in read:
        if one.text is None:
            found += _number(text, one, extra)
            continue
        strength = Named.NOTHING if one.is_name or extra is None else _strength(one, extra)
        if not one.text or (strength is Named.NOTHING and len(one.text) < _SHORT):
            continue
        decoded = Decoded(one.text) if "\\" in one.text else None
        plain = one.text if decoded is None else decoded.text
        inner: list[Found] | None
        if strength is not Named.NOTHING and is_secret_value(strength, plain[credential(plain) :]):
            whole = Found(credential(plain), len(plain), SECRET, f"field {_shown(one.name)}")
            inner = beside_placeholders(plain, whole)
        else:
            inner = walk(plain, rule, extra, depth + 1) if depth < MAX_NESTED else None
            inner = merged(plain, rule(plain)) if inner is None else inner
        for place in inner:
            start, end = place.start, place.end
            value = plain[start:end] if place.value is None else place.value
            if decoded is not None:
                start, end = decoded.back(start), decoded.back(end)
            found.append(Found(one.start + start, one.start + end, place.kind, place.why, value, place.depth + 1))
    return found


def _strength(one: Literal, extra: frozenset[str]) -> Named:
    """Judge the name that a text goes by; one that is not its own field's counts where the text looks like a secret."""
    strength = _named(one.name, extra)
    if is_plural(one.name) and holds_secrets(one.name, extra):
        return Named.HELD
    if one.held and strength is Named.STRONG:
        return Named.HELD if looks_chosen(one.text or "") else Named.NOTHING
    return strength


def _named(name: str, extra: frozenset[str]) -> Named:
    return Named.STRONG if is_header(name) else named(name, extra)


def _number(text: str, one: Literal, extra: frozenset[str] | None) -> Iterator[Found]:
    digits = text[one.start : one.end]
    if (
        extra is not None
        and len(digits) >= _DIGITS
        and digits.isdigit()
        and not one.held
        and _named(one.name, extra) is Named.STRONG
    ):
        yield Found(one.start, one.end, NUMBER, f"field {_shown(one.name)}", digits)


def _shown(name: str) -> str:
    return name[:_NAME_SHOWN]
