"""What is to be redacted: the `[redaction]` of spectrace.toml, read strictly.

[redaction]
enabled = true                       # false: nothing is redacted, and every episode says so
personal = ["email", "card"]         # personal data too: email, card, iban, phone
fields = ["customer_pin"]            # further names whose value is a secret
allow = ["password123"]              # texts that are none
patterns = [{name = "employee", regex = "E-[0-9]{6}"}]
key_file = "~/spectrace.key"         # or key_env = "NAME"
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from spectrace.errors import UsageError
from spectrace.redaction.personal import KINDS

VERSION = 2
"""Of what is found without any settings: another one finds other things, so other placeholders."""

_KNOWN: Mapping[str, type] = {
    "enabled": bool,
    "personal": list,
    "patterns": list,
    "fields": list,
    "allow": list,
    "key_file": str,
    "key_env": str,
}
_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")


@dataclass(frozen=True, slots=True)
class Rules:
    """What is redacted, and where the key of the placeholders lies."""

    enabled: bool = True
    personal: tuple[str, ...] = ()
    patterns: tuple[tuple[str, re.Pattern[str]], ...] = ()
    """(name, expression): its only group is the secret, or all of it."""
    fields: tuple[str, ...] = ()
    allow: frozenset[str] = frozenset()
    key_file: Path | None = None
    key_env: str | None = None

    @property
    def extra(self) -> frozenset[str]:
        """The user's own names of fields, without case and separators."""
        return frozenset(re.sub(r"[^0-9a-z]", "", name.lower()) for name in self.fields)

    @property
    def digest(self) -> str:
        """A short digest of the rules: other rules make other episodes of the same run."""
        said = {
            "version": VERSION,
            "personal": sorted(self.personal),
            "patterns": [[name, pattern.pattern] for name, pattern in self.patterns],
            "fields": sorted(self.extra),
            "allow": sorted(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in self.allow),
        }
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:8]


def read_rules(table: Mapping[str, object], path: object) -> Rules:
    """Read the table; raise UsageError naming the key that is wrong."""
    where = f"{path}: redaction"
    for name, value in table.items():
        if name not in _KNOWN:
            raise UsageError(f"{where}.{name} is not known. Known: {', '.join(_KNOWN)}.")
        if not isinstance(value, _KNOWN[name]):
            raise UsageError(f"{where}.{name} must be a {_KNOWN[name].__name__}, found {type(value).__name__}.")
    if "key_file" in table and "key_env" in table:
        raise UsageError(f"{where} names both key_file and key_env: keep one.")
    personal = _texts(table, "personal", where)
    for kind in personal:
        if kind not in KINDS:
            raise UsageError(f"{where}.personal may hold {', '.join(KINDS)}, found {kind!r}.")
    file, env = table.get("key_file"), table.get("key_env")
    return Rules(
        enabled=bool(table.get("enabled", True)),
        personal=personal,
        patterns=_patterns(table.get("patterns", []), where),
        fields=_texts(table, "fields", where),
        allow=frozenset(_texts(table, "allow", where)),
        key_file=Path(str(file)).expanduser() if file is not None else None,
        key_env=str(env) if env is not None else None,
    )


def _texts(table: Mapping[str, object], name: str, where: str) -> tuple[str, ...]:
    found = table.get(name, [])
    assert isinstance(found, list)  # noqa: S101 - looked at before
    for value in found:
        if not isinstance(value, str) or not value:
            raise UsageError(f"{where}.{name} is a list of texts, found {type(value).__name__} in it.")
    return tuple(found)


def _patterns(found: object, where: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    assert isinstance(found, list)  # noqa: S101 - looked at before
    made = []
    for number, entry in enumerate(found):
        if not isinstance(entry, dict) or set(entry) != {"name", "regex"}:
            raise UsageError(f'{where}.patterns[{number}] is {{name = "...", regex = "..."}}.')
        name, regex = entry["name"], entry["regex"]
        if not isinstance(name, str) or _NAME.fullmatch(name) is None:
            raise UsageError(f"{where}.patterns[{number}].name is lower case letters, digits and -, found {name!r}.")
        try:
            pattern = re.compile(regex)
        except (re.error, TypeError) as error:
            raise UsageError(f"{where}.patterns[{number}].regex is no regular expression: {error}.") from None
        if pattern.groups > 1 or pattern.fullmatch("") is not None:
            raise UsageError(
                f"{where}.patterns[{number}].regex must have one group at most, the secret, and match no empty text."
            )
        made.append((name, pattern))
    return tuple(made)
