"""Secrets by name and position in plain text: assignments, flags, headers, and the places of a URL that hold them.

A vendor's prefix is never needed here. What follows a colon in a sentence ("the password: ask Ana") is no secret unless
it looks like one; a quoted value, or one behind `=`, is. Every pattern begins where a word does and what was found is
gone past, so time is linear.
"""

import re
from collections.abc import Iterator

from spectrace.redaction.everyday import by_custom
from spectrace.redaction.findings import SECRET, Found
from spectrace.redaction.judging import credential, is_secret_value, looks_chosen, prose, says_nothing
from spectrace.redaction.markup import by_markup
from spectrace.redaction.names import Named, endings, folded, in_query, is_header, named

_SIGN = re.compile(r"[=:]")
_SPACE = frozenset(" \t")
_FLAG = re.compile(r"(?<![\w\-])--(?P<name>[A-Za-z][\w\-]*+)[ \t]{1,3}")
_IN_NAMES = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_SPACES, _CLOSING, _SIGNS, _LONGEST_NAME = 48, 6, 3, 128
_VALUE = re.compile(
    r"@?\"(?P<double>(?:[^\"\\\n]|\\.)*+)\"?"
    r"|'(?P<single>(?:[^'\\\n]|\\.|'')*+)'?"
    r"|`(?P<tick>[^`\n]*+)`?"
    r"|\\{1,4}[\"'](?P<escaped>[^\"'\\\n]*+)"
    r"|(?P<bare>[^\s,;&|(){}\[\]\"'`<>\\]"
    # what ends a value in code or a list is a part of it where it goes on, unless with another name
    r"(?:[^\s,;&|)}\]\"'`<>\\]|[,;&|](?![\w.\-]{0,64}[=:])(?=[\w!@#$%^*+])|[)}\]\"'`>](?=\w)"
    r"|<(?![/!?])(?![A-Za-z][^<>\s]{0,64}>)(?=\w)|\\(?![nrtu\"'\\])(?=\w))*+)"
)
_OF_LINE = re.compile(r"[^\s\"'`][^\s]*+")
_PHRASE = re.compile(r"[A-Za-z]++(?: [A-Za-z]++){2,32}+(?=[ \t]*+(?:\r?\n|\Z))")
_STOPS = re.compile(r"\\|<|[&,;|][\w.\-]{0,64}[=:]|[\"'`)}\]>]++[,;:]?+(?!\w|[({\[])")
"""What ends a value even where a line sets it."""
_SETS = re.compile(r"[ \t]*+(?:export[ \t]+|set[ \t]+|ENV[ \t]+|-e[ \t]+|[\-*][ \t]+)?\Z")
"""What may stand before a name that begins its line: what is set there goes to the end of the line."""
_NEXT_LINE = re.compile(
    r"[ \t]*+(?:(?P<block>[|>][+\-]?)[ \t]*+)?\r?\n(?P<indent>[ \t]*+)(?P<value>[^\s:#][^\r\n]{0,4096})(?=\r?\n|\Z)"
)
_LINE = re.compile(r"[^\r\n\"'\\`]*+")
_BEARER = re.compile(r"(?<![\w\-])(?:bearer|basic)[ \t]{1,3}(?P<value>[A-Za-z0-9._~+/=\-]{8,}+)", re.IGNORECASE)
_USERINFO = re.compile(r"://(?P<user>[^\s/?#\"'<>@:\\]*+):?(?P<password>[^\s/?#\"'<>\\]*)@")
_DATABASE = re.compile(
    r"(?<![A-Za-z])(?:postgres(?:ql)?|mysql|mariadb|mssql|oracle|redis|rediss|mongodb|amqps?)(?:\+\w{1,32})?://"
    r"[^\s:/@\"'<>]*+:(?P<password>[^\s\"'<>@]{1,256}+)@"
)
_QUERY = re.compile(r"[?&;](?P<name>[A-Za-z_][\w.\-\[\]]{0,63}+)=(?P<value>[^&\s#\"'<>;\\]++)")
_CODE = re.compile(r"(?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*|[A-Za-z_]+_[A-Za-z_]+|\w[\w.]*[(\[].*")
_LONG_USER = 16
_LONG_TOKEN = 20
_LONGEST_WEAK = 512
"""Characters of a value that a weak name makes a secret of."""
_NAME_SHOWN = 64


def by_position(text: str, extra: frozenset[str]) -> Iterator[Found]:
    """Yield what is a secret by the name before it, or by its place in a URL."""
    text = folded(text)
    yield from _assigned(text, extra)
    yield from by_custom(text, extra)
    if "</" in text or "/>" in text or "<input" in text or "<meta" in text:
        yield from by_markup(text, extra)
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
    end, last = at, max(0, at - _SPACES)
    while end > last and text[end - 1] in _SPACE:
        end -= 1
    last = max(0, end - _CLOSING)
    while end > last and text[end - 1] in "\"'`\\]*":
        end -= 1
    start, last = end, max(0, end - _LONGEST_NAME)
    while start > last and text[start - 1] in _IN_NAMES:
        start -= 1
    return start, text[start:end].strip("-.")


def _behind(text: str, at: int) -> tuple[int, bool]:
    """Return where the value behind a sign begins, and whether the sign is a colon: `:=`, `=>` and `==` are none."""
    end = at + 1
    while end - at < _SIGNS and text[end : end + 1] in {"=", ">"}:
        end += 1
    by_colon, behind = text[at] == ":" and end == at + 1, end
    if text.startswith("**", behind):
        behind += 2  # **Password:** in Markdown
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
    if text[at : at + 1] == "/" and text[at - 4 : at] in {"PWD=", "PWD:"}:
        return at, at, False  # a shell's directory
    found = _VALUE.match(text, at, len(text) if strength is Named.STRONG else at + _LONGEST_WEAK)
    is_set = strength is Named.STRONG and _begins_line(text, name)
    if found is None or found.lastgroup is None or (by_colon and found["bare"] in {"|", ">", "|-", ">-"}):
        if is_set and by_colon:
            return _next_line(text, at)
        bare = _OF_LINE.match(text, at) if is_set and text[name].isupper() and text[at - 1] == "=" else None
        return (*bare.span(), True) if bare is not None else (at, at, False)
    start, end = found.span(found.lastgroup)
    value = found[found.lastgroup]
    if found.lastgroup != "bare":
        said = prose(value) and by_colon and strength is Named.STRONG and not _opens(text, name)
        return (start, end, True) if is_secret_value(strength, value) and not said else (at, at, False)
    if is_set and not by_colon:
        whole = _of_line(text, name, start, end)
        if whole is not None:
            return (start, whole, True) if not says_nothing(text[start:whole]) else (start, whole, False)
    value = value.rstrip(".") if by_colon else value
    secret = (
        is_secret_value(strength, value)
        and _CODE.fullmatch(text, start, end + (text[end : end + 1] in {"(", "["})) is None
        and (not by_colon or _alone(text, name, start, start + len(value)))
    )
    return start, start + len(value), secret


def _begins_line(text: str, name: int) -> bool:
    before = text[max(text.rfind("\n", max(0, name - 80), name) + 1, name - 80) : name]
    return _SETS.match(before) is not None and (len(before) < 80)  # noqa: PLR2004 - what was looked at


def _opens(text: str, name: int) -> bool:
    """Whether a name stands first in its line or in what a bracket or a comma begins, as in a dictionary."""
    before = text[max(text.rfind("\n", max(0, name - 80), name) + 1, name - 80) : name].rstrip(" \t\"'\\")
    return not before or before[-1] in "{[(,-*#>"


def _of_line(text: str, name: int, start: int, end: int) -> int | None:
    """Return where a value ends that a line sets: a phrase with its line, else with its word; None where it is code."""
    phrase = _PHRASE.match(text, start, start + _LONGEST_WEAK)
    if phrase is not None:
        return phrase.end()
    word = _OF_LINE.match(text, start)
    if word is None or text[start - 1] in _SPACE:
        return None  # `password = config.password` is code as often as not
    if word.end() > end and (not text[name].isupper() or _STOPS.match(text, end) is not None):
        return None
    if text[name].isupper():
        return start + len(word[0].rstrip(",;\"'`"))
    dotted = word[0].rpartition(".")
    if dotted[1] and named(dotted[2].strip("()")) is not Named.NOTHING:
        return None
    if word[0].endswith((")", "]")) and ("(" in word[0] or "[" in word[0]):
        return None
    return word.end()


def _next_line(text: str, at: int) -> tuple[int, int, bool]:
    """Return the value that stands in the line below its name: in YAML a block, or a single word."""
    found = _NEXT_LINE.match(text, at)
    if found is None:
        return at, at, False
    value = found["value"].rstrip()
    start = found.start("value")
    is_one = looks_chosen(value) if found["block"] is None else bool(found["indent"]) and not says_nothing(value)
    return start, start + len(value), is_one


def _alone(text: str, name: int, start: int, end: int) -> bool:
    """Whether what follows a colon is a value and no word of a sentence: it has a digit, or the line to itself."""
    value = text[start:end]
    if any(letter.isdigit() or letter in "!@#$%^*+/=~" for letter in value):
        return True
    before = text[max(text.rfind("\n", max(0, name - 80), name) + 1, name - 80) : name]
    behind = text[end : end + 80].partition("\n")[0]
    return not behind.strip(" \t\r,;\"'}])") and not before.strip(" \t-*#>{[,\"'")
