"""What is a secret in a text, by rules alone: nothing here depends on what was seen before.

Texts without any trace of one (a word such as `pass` or `key`, a vendor's prefix, `://`, a base64 token) are nearly all
there are, so that is looked at first, with plain searches.
"""

import re

from spectrace.redaction.coded import by_code
from spectrace.redaction.fields import by_position
from spectrace.redaction.findings import Found, merged, words
from spectrace.redaction.json_reading import BEGINS, NAMING, VALUES, Decoded
from spectrace.redaction.json_walk import HIDDEN, Rule, walk
from spectrace.redaction.known import by_form
from spectrace.redaction.names import Named, folded, holds_secrets, is_header, named
from spectrace.redaction.personal import personal
from spectrace.redaction.rules import Rules

_STEMS = words(
    "pass pwd pw secret token key auth cookie cred bearer basic session sid sig jwt otp csrf xsrf nonce pin contrase "
    "cvv cvc mnemonic senha kennwort identified пароль 密码 密碼 パスワード 비밀번호 haslo wachtwoord parola "
    "sqlplus oracle:thin impdp expdp mysql mariadb securestring curl"
)
_SHORT = 6
_KEYS = re.compile(r"([A-Za-z0-9_.\-]{1,128}+)\\*+\"[ \t\r\n]*+[:,\]]")
"""Names of fields, and texts that name another, at any depth of JSON inside JSON; of a longer one the end."""


class Detector:
    """Finds secrets by the rules."""

    def __init__(self, rules: Rules) -> None:
        """Find credentials, and what else the rules ask for."""
        self._rules = rules
        self._stems = (*_STEMS, "mot de passe", "code is", *rules.fields)

    def find(self, text: str) -> list[Found]:
        """Return the secrets of a text, in order, none overlapping another."""
        if len(text) < _SHORT:
            return []
        lower = folded(text).lower()
        worded = any(stem in lower for stem in self._stems)
        rule = self._named if worded or "://" in text else self._plain
        if BEGINS.match(text) is None:
            return merged(text, rule(text))
        if self._passed(text, rule, worded=worded):
            return []
        found = walk(text, rule, self._rules.extra)
        return merged(text, rule(text) if found is None else found)

    def _passed(self, text: str, rule: Rule, *, worded: bool) -> bool:
        """Whether a text that may be JSON has no trace of a secret, so that it need not be walked: nearly none has.

        No field of a secret's name at any depth, and nothing that the rule finds once the escapes are undone; escapes
        of ASCII letters hide something, so they are always walked.
        """
        if worded or '"kty' in text:
            names = set(_KEYS.findall(text))
            if any(self._is_a_secrets(name) for name in names) or "kty" in names:
                return False
            if not names.isdisjoint(VALUES) and not names.isdisjoint(NAMING):
                return False
        if "\\" not in text:
            return not rule(text)
        return HIDDEN.search(text) is None and not rule(Decoded(text).text)

    def _is_a_secrets(self, name: str) -> bool:
        extra = self._rules.extra
        return is_header(name) or named(name, extra) is not Named.NOTHING or holds_secrets(name, extra)

    def _named(self, text: str) -> list[Found]:
        """Look at a plain text, positions included."""
        return self._allowed(text, [*by_position(text, self._rules.extra), *self._all_forms(text)])

    def _plain(self, text: str) -> list[Found]:
        """Look at a plain text without any word that a position could go by."""
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
