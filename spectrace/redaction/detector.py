"""What is a secret in a text, by rules alone: nothing here depends on what was seen before.

Texts without any trace of one (a word such as `pass` or `key`, a vendor's prefix, `://`, a base64 token) are nearly all
there are, so that is looked at first, with plain searches.
"""

from spectrace.redaction.coded import by_code
from spectrace.redaction.fields import by_position
from spectrace.redaction.findings import Found, merged, words
from spectrace.redaction.json_walk import walk
from spectrace.redaction.known import by_form
from spectrace.redaction.personal import personal
from spectrace.redaction.rules import Rules

_STEMS = words(
    "pass pwd pw secret token key auth cookie cred bearer basic session sid sig jwt otp csrf xsrf nonce pin contrasena"
)
_SHORT = 6


class Detector:
    """Finds secrets by the rules."""

    def __init__(self, rules: Rules) -> None:
        """Find credentials, and what else the rules ask for."""
        self._rules = rules
        self._stems = (*_STEMS, *rules.fields)

    def find(self, text: str) -> list[Found]:
        """Return the secrets of a text, in order, none overlapping another."""
        if len(text) < _SHORT:
            return []
        lower = text.lower()
        named = any(stem in lower for stem in self._stems)
        found: list[Found] | None = None
        if named or "\\" in text:
            found = walk(text, self._named if named else self._plain, self._rules.extra)
        if found is None:
            found = self._named(text) if named or "://" in text else self._plain(text)
        return merged(text, found) if found else found

    def _named(self, text: str) -> list[Found]:
        """Look at a plain text, positions included."""
        return self._allowed(text, [*by_position(text, self._rules.extra), *self._all_forms(text)])

    def _plain(self, text: str) -> list[Found]:
        if "://" in text:
            return self._named(text)
        return self._allowed(text, self._all_forms(text))

    def _all_forms(self, text: str) -> list[Found]:
        found = [*by_form(text), *by_code(text, self._uncoded)]
        if self._rules.personal:
            found += personal(text, self._rules.personal)
        for name, pattern in self._rules.patterns:
            for match in pattern.finditer(text):
                found.append(Found(*match.span(match.lastindex or 0), name, f"pattern {name}"))
        return found

    def _uncoded(self, text: str) -> list[Found]:
        """Look at what a base64 token holds: a key's name in it counts, what only looks like a token does not."""
        inner = walk(text, self._inside, self._rules.extra)
        return self._inside(text) if inner is None else inner

    def _inside(self, text: str) -> list[Found]:
        found = [*by_position(text, self._rules.extra), *by_form(text)]
        if self._rules.personal:
            found += personal(text, self._rules.personal)
        return self._allowed(text, found)

    def _allowed(self, text: str, found: list[Found]) -> list[Found]:
        if not self._rules.allow:
            return found
        return [one for one in found if text[one.start : one.end] not in self._rules.allow]
