"""Placeholders for secrets, and the secrets back from the vault, which lies in memory and is never written.

A placeholder is `REDACTED-KIND-` and a keyed digest of the secret: with the same key the same secret has the same one,
in every episode, so that a replay, a fork or a resumed run meets the texts that were recorded. Nobody without the key
can test a guess. A `Redactor` belongs to one episode: what it has seen there it knows again wherever it occurs,
written plainly, inside JSON, as part of a URL or in base64. Another episode starts with an empty vault (`fresh`), so
that what an episode's log says depends on that episode alone.

What was let through and is found out later (a password that stood in a sentence, and then in its field) is redacted
from there on, and not before: a message that is recorded is never changed, so prompts still hold it as it was first
told. Replay compares texts, and a history that changed under it would be another conversation. `scan-secrets` finds
such places, `erase` removes them.
"""

import json
from collections import OrderedDict
from urllib.parse import quote, quote_plus

from spectrace.redaction.coded import by_code
from spectrace.redaction.detector import Detector
from spectrace.redaction.findings import MARK, NUMBER, PLACEHOLDER, SECRET, Found, merged
from spectrace.redaction.json_reading import BEGINS, Decoded
from spectrace.redaction.json_walk import HIDDEN, walk
from spectrace.redaction.mangled import finder
from spectrace.redaction.restoring import escaped, put_back, standing
from spectrace.redaction.rules import VERSION, Rules
from spectrace.redaction.secret_key import SecretKey

_REMEMBERED = 512
"""Secrets of an episode that are looked for elsewhere: more would cost more than linear time."""
_LEAST = 8
"""A shorter secret is a word that other texts hold too; it is replaced where it stands, and looked for nowhere."""
_LONG_WORD = 20
_ANY = "surrogatepass"
_ROUNDS = 4
_CACHED = 4 * 2**20
"""Characters of texts whose result is kept; of one text at most a thirty-second part of it."""

_Told = tuple[str, tuple[tuple[str, str], ...]]


class _Cache:
    """Texts and what became of them by rule: the same prompts and schemas come again with every episode."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, _Told] = OrderedDict()
        self._size = 0

    def get(self, text: str) -> _Told | None:
        found = self._kept.get(text)
        if found is not None:
            self._kept.move_to_end(text)
        return found

    def put(self, text: str, told: _Told) -> None:
        if len(text) > _CACHED // 32 or text in self._kept:
            return
        self._kept[text] = told
        self._size += len(text)
        while self._size > _CACHED:
            gone, _ = self._kept.popitem(last=False)
            self._size -= len(gone)


class Redactor:
    """Maps texts: secrets to placeholders, and back."""

    def __init__(self, key: SecretKey, rules: Rules | None = None) -> None:
        """Redact by the rules, credentials alone unless they say more."""
        rules = rules or Rules()
        self._key, self._rules = key, rules
        self._detector, self._cache = Detector(rules), _Cache()
        self._mangled = finder((*rules.personal, *(name for name, _ in rules.patterns)))
        self._vault: dict[str, str] = {}
        self._searched: dict[str, str] = {}
        self._bare: set[str] = set()
        """The secrets that are searched, as JSON writes them, without any backslash."""

    @property
    def version(self) -> str:
        """What is recorded of it: its version, the key's id, the digest of its rules."""
        return f"{VERSION} key {self._key.id} rules {self._rules.digest}"

    @property
    def rules(self) -> Rules:
        """What it looks for."""
        return self._rules

    @property
    def key_id(self) -> str:
        """The short id of its key."""
        return self._key.id

    def fresh(self) -> "Redactor":
        """Return one for another episode: the same rules and key, nothing known yet."""
        other = object.__new__(Redactor)
        other._key, other._rules = self._key, self._rules
        other._detector, other._cache, other._mangled = self._detector, self._cache, self._mangled
        other._vault, other._searched, other._bare = {}, {}, set()
        return other

    def text(self, text: str) -> str:
        """Return a text with placeholders in the place of its secrets; without any, the very same text."""
        told = self._cache.get(text)
        if told is None:
            told = self._by_rule(text)
            self._cache.put(text, told)
        told_text, secrets = told
        if not secrets:
            told_text = text
        for placeholder, value in secrets:
            self._remember(placeholder, value)
        return self._known(told_text) if self._searched else told_text

    def named(self, name: str, value: str) -> str:
        """Return a value that is told apart by its name, as a header or a label is."""
        pair = json.dumps({name: value}, ensure_ascii=False, separators=(",", ":"))
        told = self.text(pair)
        if told == pair:
            return value
        (said,) = json.loads(told).values()  # read back, since its name may have been replaced too, or be escaped
        return str(said)

    def restore(self, text: str) -> str:
        """Return a text with its secrets put back, escaped where they stand in JSON; unknown placeholders stay."""
        places = standing(text)
        if not places:
            return text
        parts, at = [], 0
        for place in places:
            value = self._vault.get(place.name)
            if value is None:
                continue
            start, end, written = put_back(text, place, value)
            parts += [text[at:start], written]
            at = end
        return "".join((*parts, text[at:]))

    def unknown(self, text: str) -> tuple[str, ...]:
        """Return the placeholders in a text that this process cannot put back."""
        if MARK not in text:
            return ()
        return tuple(dict.fromkeys(one[0] for one in PLACEHOLDER.finditer(text) if one[0] not in self._vault))

    def mangled(self, text: str) -> tuple[str, ...]:
        """Return what looks like a placeholder in a text and is none, so that nothing is put back for it."""
        return self._mangled(text)

    def placeholder(self, kind: str, value: str) -> str:
        """Return what stands for a secret."""
        return f"{MARK}{kind}-{self._key.tag(value)}"

    def _by_rule(self, text: str) -> _Told:
        """Replace what the rules find, until they find no more: what is gone may have hidden its neighbour."""
        told, secrets = self._replaced(text, self._detector.find(text))
        for _ in range(_ROUNDS):
            found = self._detector.find(told) if secrets else []
            if not found:
                break
            told, more = self._replaced(told, found)
            secrets += more
        return told, secrets

    def _replaced(self, text: str, found: list[Found]) -> _Told:
        if not found:
            return text, ()
        parts, secrets, at = [], [], 0
        for one in found:
            value = whole(text[one.start : one.end] if one.value is None else one.value)
            placeholder = self.placeholder(one.kind, value)
            secrets.append((placeholder, value))
            quotes = escaped('"', one.depth) if one.kind == NUMBER else ""
            parts += [text[at : one.start], quotes, placeholder, quotes]
            at = one.end
        return "".join((*parts, text[at:])), tuple(secrets)

    def _remember(self, placeholder: str, value: str) -> None:
        if placeholder in self._vault:
            return
        self._vault[placeholder] = value
        if len(self._searched) >= _REMEMBERED or not _distinct(value):
            return
        self._bare.add(escaped(value, 1).replace("\\", ""))
        for spelling in dict.fromkeys((value, quote(value, "", errors=_ANY), quote_plus(value, errors=_ANY))):
            self._searched.setdefault(spelling, placeholder[len(MARK) :].rpartition("-")[0])

    def _known(self, text: str) -> str:
        """Replace what was seen before."""
        if len(text) < _LEAST:
            return text
        crosses = BEGINS.match(text) is not None and any('"' in value for value in self._searched)
        if "\\" not in text and not crosses:  # a secret with a quote may end behind the string that it stands in
            found: list[Found] | None = self._literal(text)
        elif crosses or self._may_hold(text):
            found = walk(text, self._literal, None)
            found = self._literal(text) if found is None else found
        else:
            return text
        if not found:
            return text
        told, secrets = self._replaced(text, merged(text, found))
        self._vault.update(secrets)
        return told

    def _may_hold(self, text: str) -> bool:
        """Whether a text with escapes may say what was seen before: at any depth only backslashes differ."""
        bare = text.replace("\\", "")
        if HIDDEN.search(text) is not None or any(one in bare or not one.isascii() for one in self._bare):
            return True
        return next(by_code(Decoded(text).text, self._holds), None) is not None

    def _literal(self, text: str) -> list[Found]:
        found = []
        for value, kind in self._searched.items():
            at = text.find(value)
            while at >= 0:
                found.append(Found(at, at + len(value), kind, "seen before"))
                at = text.find(value, at + len(value))
        return [*found, *by_code(text, self._holds)]

    def _holds(self, text: str) -> list[Found]:
        return [Found(0, 1, SECRET, "seen before") for value in self._searched if value in text][:1]


def _distinct(value: str) -> bool:
    """Whether a secret can be told from a word: long, or with a digit, a sign or a capital inside."""
    if len(value) < _LEAST or value.isspace():
        return False
    return len(value) >= _LONG_WORD or not (value.isalpha() and (value[1:].islower() or value.isupper()))


def whole(value: str) -> str:
    """Return a secret as one text however its characters were escaped: pairs of surrogates joined."""
    return value if value.isascii() else value.encode("utf-16-le", _ANY).decode("utf-16-le", _ANY)
