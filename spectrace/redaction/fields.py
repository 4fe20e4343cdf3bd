"""Secrets by name and position in plain text: assignments, flags, headers, and the places of a URL that hold them.

A vendor's prefix is never needed here. What follows a colon in a sentence ("the password: ask Ana") is no secret unless
it looks like one; a quoted value, or one behind `=`, is. Every pattern begins where a word does and what was found is
gone past, so time is linear.
"""

import re
from collections.abc import Iterator

from spectrace.redaction.findings import MARK, PLACEHOLDER, SECRET, Found, words
from spectrace.redaction.names import Named, endings, in_query, is_header, named

_SIGN = re.compile(r"[=:]")
_FLAG = re.compile(r"(?<![\w\-])--(?P<name>[A-Za-z][\w\-]*+)[ \t]{1,3}")
_IN_NAMES = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_SPACES, _CLOSING, _LONGEST_NAME = 3, 6, 128
_VALUE = re.compile(
    r"@?\"(?P<double>(?:[^\"\\\n]|\\.)*+)\"?"
    r"|'(?P<single>(?:[^'\\\n]|\\.)*+)'?"
    r"|`(?P<tick>[^`\n]*+)`?"
    r"|\\{1,4}[\"'](?P<escaped>[^\"'\\\n]*+)"
    r"|(?P<bare>[^\s,;&|(){}\[\]\"'`<>\\][^\s,;&|)}\]\"'`<>\\]*+)"
)
_LINE = re.compile(r"[^\r\n\"'\\`]*+")
_SCHEME = re.compile(r"(?:bearer|basic|digest|token|apikey|negotiate|aws4-hmac-sha256)[ \t]+", re.IGNORECASE)
_BEARER = re.compile(r"(?<![\w\-])(?:bearer|basic)[ \t]{1,3}(?P<value>[A-Za-z0-9._~+/=\-]{8,}+)", re.IGNORECASE)
_USERINFO = re.compile(r"://(?P<user>[^\s/?#\"'<>@:\\]*+):?(?P<password>[^\s/?#\"'<>\\]*)@")
_DATABASE = re.compile(
    r"(?<![A-Za-z])(?:postgres(?:ql)?|mysql|mariadb|mssql|oracle|redis|rediss|mongodb|amqps?)(?:\+\w{1,32})?://"
    r"[^\s:/@\"'<>]*+:(?P<password>[^\s\"'<>@]{1,256}+)@"
)
_QUERY = re.compile(r"[?&;](?P<name>[A-Za-z_][\w.\-\[\]]{0,63}+)=(?P<value>[^&\s#\"'<>;\\]++)")
_CONSTANTS = words(
    "true false null none nil yes no on off required optional string str text bytes int integer number object any "
    "undefined empty missing unset hidden masked redacted type password secret token key value here there is was not "
    "and or the a an your"
)
_BLANK = re.compile(r"[*xX.\-_#•?]+|<[^>]*>|\$\{[^}]*\}?|\{\{.*\}\}|\{\w*\}|%\w+%|\$\w+|%[sdr]")
_CODE = re.compile(r"(?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*|[A-Za-z_]+_[A-Za-z_]+|\w[\w.]*[(\[].*")
_TOKEN = re.compile(r"[A-Za-z0-9+/_=.~:\-]{16,}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_LONG_USER = 16
_PROSE_WORDS = 3
_LONG_TOKEN = 20
_LONGEST_WEAK = 512
"""Characters of a value that a weak name makes a secret of."""
_NAME_SHOWN = 64


def says_nothing(value: str) -> bool:
    """Whether what stands in a secret's place is none: empty, a constant, a blank to be filled in, a placeholder."""
    bare = value.strip()
    if len(bare) < 2 or bare.lower() in _CONSTANTS:  # noqa: PLR2004 - one character opens nothing
        return True
    if MARK in bare and PLACEHOLDER.search(bare) is not None:
        return True  # what holds a placeholder was looked at: twice redacted is once redacted
    return _BLANK.fullmatch(bare) is not None


def prose(value: str) -> bool:
    """Whether a value is a sentence about a secret: several words, no digit."""
    return value.count(" ") >= _PROSE_WORDS and not any(letter.isdigit() for letter in value)


def looks_random(value: str) -> bool:
    """Whether a value looks like a token by itself: what a weak name needs beside it."""
    if _TOKEN.fullmatch(value) is None or _UUID.fullmatch(value) is not None:
        return False
    return any(letter.isdigit() for letter in value) and any(letter.isalpha() for letter in value)


def is_secret_value(strength: Named, value: str) -> bool:
    """Whether a whole value under a name of that strength is a secret."""
    match strength:
        case Named.STRONG:
            return not says_nothing(value) and not prose(value)
        case Named.WEAK:
            return looks_random(value.strip())
        case _:
            return False


def credential(value: str) -> int:
    """Return where the credential begins in a header's value: behind its scheme."""
    scheme = _SCHEME.match(value)
    return 0 if scheme is None or scheme.end() >= len(value) else scheme.end()


def by_position(text: str, extra: frozenset[str]) -> Iterator[Found]:
    """Yield what is a secret by the name before it, or by its place in a URL."""
    yield from _assigned(text, extra)
    lower = text.lower()
    if "bearer" in lower or "basic" in lower:
        for match in _BEARER.finditer(text):
            value = match["value"]
            if len(value) >= _LONG_TOKEN or any(letter.isdigit() for letter in value):
                yield Found(*match.span("value"), SECRET, "credential of a scheme")
    if "--" in text:
        yield from _flags(text, extra)
    if "://" in text:
        yield from _in_urls(text)
    if "=" in text and ("?" in text or "&" in text or ";" in text):
        for match in _QUERY.finditer(text):
            if in_query(match["name"], extra) and not says_nothing(match["value"]):
                yield Found(*match.span("value"), SECRET, f"query parameter {match['name']}")


def _in_urls(text: str) -> Iterator[Found]:
    for match in _USERINFO.finditer(text):
        if match["password"] and not says_nothing(match["password"]):
            yield Found(*match.span("password"), SECRET, "password in a URL")
        elif len(match["user"]) >= _LONG_USER and not match["password"]:
            yield Found(*match.span("user"), SECRET, "credential in a URL")
    for match in _DATABASE.finditer(text):
        if not says_nothing(match["password"]):
            yield Found(*match.span("password"), SECRET, "password in a database URL")


def _assigned(text: str, extra: frozenset[str]) -> Iterator[Found]:
    at = judged = 0
    last = endings(extra)
    for sign in _SIGN.finditer(text):
        if sign.start() < at or not _may_be_named(text, sign.start(), last):
            continue
        begins, name = _name_before(text, sign.start())
        if not name:
            continue
        header = is_header(name)
        strength = Named.STRONG if header else named(name, extra)
        if strength is Named.NOTHING or (header and sign.start() < judged):
            continue  # a line is looked at for one header: again and again would take quadratic time
        behind, by_colon = _behind(text, sign.start())
        if header:
            start, end, secret = _header(text, behind)
            judged = end
        else:
            start, end, secret = _value(text, behind, begins, strength, by_colon=by_colon)
            at = max(at, end if secret or strength is Named.STRONG else at)
        if secret:
            at = end
            yield Found(start, end, SECRET, f"{'header' if header else 'value of'} {name[-_NAME_SHOWN:]}")


def _may_be_named(text: str, at: int, last: frozenset[str]) -> bool:
    """Whether what stands just before a sign can be the end of a secret's name: of ten signs nine are passed here."""
    before = text[at - 1 : at]
    if before == '"':
        return text[at - 3 : at - 1].lower() in last or text[at - 2 : at - 1] not in _IN_NAMES
    return before not in _IN_NAMES or text[max(0, at - 2) : at].lower() in last


def _name_before(text: str, at: int) -> tuple[int, str]:
    """Return the name that a sign follows, and where it begins: behind spaces, quotes and brackets that close."""
    end = at
    while end and at - end < _SPACES and text[end - 1] in " \t":
        end -= 1
    last = max(0, end - _CLOSING)
    while end > last and text[end - 1] in "\"'`\\]":
        end -= 1
    start, last = end, max(0, end - _LONGEST_NAME)
    while start > last and text[start - 1] in _IN_NAMES:
        start -= 1
    return start, text[start:end].strip("-.")


def _behind(text: str, at: int) -> tuple[int, bool]:
    """Return where the value behind a sign begins, and whether the sign is a colon: `:=`, `=>` and `==` are none."""
    end = at + 1
    while end - at < _SPACES and text[end : end + 1] in {"=", ">"}:
        end += 1
    by_colon, behind = text[at] == ":" and end == at + 1, end
    while behind - end < _SPACES and text[behind : behind + 1] in {" ", "\t"}:
        behind += 1
    return behind, by_colon


def _flags(text: str, extra: frozenset[str]) -> Iterator[Found]:
    """Yield the values of `--password VALUE`."""
    for match in _FLAG.finditer(text):
        strength = named(match["name"], extra)
        if strength is not Named.NOTHING:
            start, end, secret = _value(text, match.end(), match.start(), strength, by_colon=True)
            if secret:
                yield Found(start, end, SECRET, f"value of --{match['name'][-_NAME_SHOWN:]}")


def _header(text: str, at: int) -> tuple[int, int, bool]:
    """Return the credential of a header line; `at` may stand before a quote, as in a dictionary."""
    at += len(text[at : at + 8]) - len(text[at : at + 8].lstrip("\"'\\`"))
    line = _LINE.match(text, at)
    value = "" if line is None else line[0].rstrip()
    start = credential(value)
    said = says_nothing(value[start:]) or prose(value) or (start == 0 and value.isalpha() and value.islower())
    return at + start, at + len(value), not said


def _value(text: str, at: int, name: int, strength: Named, *, by_colon: bool) -> tuple[int, int, bool]:
    """Return the value behind a name, and whether it is a secret; one that is none and quoted has no place."""
    found = _VALUE.match(text, at, len(text) if strength is Named.STRONG else at + _LONGEST_WEAK)
    if found is None or found.lastgroup is None:
        return at, at, False
    start, end = found.span(found.lastgroup)
    value = found[found.lastgroup]
    if found.lastgroup != "bare":
        secret = is_secret_value(strength, value)
        return (start, end, True) if secret else (at, at, False)
    value = value.rstrip(".") if by_colon else value
    secret = (
        is_secret_value(strength, value)
        and _CODE.fullmatch(text, start, end + (text[end : end + 1] in {"(", "["})) is None
        and (not by_colon or _alone(text, name, start, start + len(value)))
    )
    return start, start + len(value), secret


def _alone(text: str, name: int, start: int, end: int) -> bool:
    """Whether what follows a colon is a value and no word of a sentence: it has a digit, or the line to itself."""
    value = text[start:end]
    if any(letter.isdigit() or letter in "!@#$%^*+/=~" for letter in value):
        return True
    before = text[max(text.rfind("\n", max(0, name - 80), name) + 1, name - 80) : name]
    behind = text[end : end + 80].partition("\n")[0]
    return not behind.strip(" \t\r,;\"'}])") and not before.strip(" \t-*#>{[,\"'")
