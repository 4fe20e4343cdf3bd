"""Secrets in the forms of everyday: a sentence that tells one, SQL, command lines, netrc, rows of a tool's settings.

Each form is looked for where a word of it occurs. What a sentence tells must look like what somebody chose, with a
digit or a sign inside, since "the password is required" is said more often. Every repetition is bounded.
"""

import re
from collections.abc import Callable, Iterator

from spectrace.redaction.findings import SECRET, Found
from spectrace.redaction.judging import looks_chosen, looks_random, says_nothing
from spectrace.redaction.names import Named, is_header, named

_WORD = r"[\"'`“]?(?P<value>[^\s\"'`“”,;<>]{4,256})"
_NOUN = (
    r"(?<![\w\-])(?:password|passwd|passphrase|passcode|pwd|api[ \-]?key|access key|secret key|secret"
    r"|(?:access |api |auth )?token)"
)


def _is_said(value: str) -> bool:
    return not says_nothing(value)


def _is_token(value: str) -> bool:
    return looks_random(value.rstrip(".,"))


def _is_pair(value: str) -> bool:
    return not says_nothing(value) and not value.isdigit()


_FORMS: tuple[tuple[tuple[str, ...], re.Pattern[str], Callable[[str], bool], str], ...] = tuple(
    (anchors, re.compile(pattern, re.IGNORECASE), right, why)
    for anchors, pattern, right, why in (
        (
            tuple(
                f"{noun} {verb}"
                for noun in ("word", "phrase", "code", "pwd", "key", "secret", "token")
                for verb in ("is", "was", "for")
            ),
            rf"{_NOUN}(?: for [\w.@\-]{{1,64}})? (?:is|was)(?: now| set to)?:? {{1,3}}{_WORD}",
            looks_chosen,
            "told in a sentence",
        ),
        (
            (" key ", " token "),
            r"(?<![\w\-])(?:api|access|secret|auth) (?:key|token) " + _WORD,
            _is_token,
            "told in a sentence",
        ),
        (
            ("token ", "password ", "secret "),
            rf"{_NOUN}(?: ?->| ?\|| \.{{2,16}}|\t)?[ \t]{{1,3}}[\"'`“](?P<value>[^\s\"'`“”]{{4,256}})[\"'`”]",
            looks_chosen,
            "quoted behind its name",
        ),
        (
            ("->", "|", "\t", " .."),
            rf"{_NOUN}[ \t]{{0,3}}(?:->|\||\.{{2,16}}|\t)[ \t]{{0,3}}{_WORD}",
            looks_chosen,
            "value behind its name",
        ),
        (
            ("pin ",),
            r"(?<![\w\-])pin(?: code)? is:? (?P<value>[0-9]{4,8})(?![\w.,]?[0-9])",
            _is_said,
            "a PIN told in a sentence",
        ),
        (
            ("code is",),
            r"(?<!\w)(?:one[ \-]time|verification|security|login) (?:pass)?code is:? (?P<value>[0-9]{4,8})(?![0-9])",
            _is_said,
            "a code told in a sentence",
        ),
        (
            ("identified",),
            r"\bidentified\s{1,4}by\s{1,4}(?:password\s{1,4})?(?P<quote>['\"])(?P<value>(?:[^'\"\n]|''){1,256})(?P=quote)",
            _is_said,
            "password in SQL",
        ),
        (
            ("password '",),
            r"\bwith\s{1,4}(?:\w{1,16}\s{1,4}){0,4}password\s{1,4}'(?P<value>(?:[^'\n]|''){1,256})'",
            _is_said,
            "password in SQL",
        ),
        (
            ("login",),
            r"\blogin\s{1,4}\S{1,128}\s{1,4}password\s{1,4}(?P<value>[^\s\"']{2,256})",
            _is_said,
            "password of netrc",
        ),
        (
            ("curl", "wget"),
            r"(?<!\S)(?:-u|--user|--proxy-user)[ =]{1,3}[\"']?[^\s:\"'/]{1,64}:(?P<value>[^\s\"']{2,256})",
            _is_pair,
            "credential of a command",
        ),
        (("sshpass",), r"\bsshpass\s{1,3}-p\s{0,3}[\"']?(?P<value>[^\s\"']{2,256})", _is_said, "password of a command"),
        (
            ("mysql", "mariadb"),
            r"\b(?:mysql(?:dump|admin)?|mariadb)\b(?:\s{1,3}[^\s|;&]{1,64}){0,8}?\s{1,3}[\"']?-p(?P<value>[^\s\"'$\-][^\s\"']{1,256})",
            _is_said,
            "password of a command",
        ),
        (
            ("sqlplus", "oracle:thin", "impdp", "expdp"),
            r"(?:sqlplus(?:\s{1,3}-\w)?\s{1,3}|oracle:thin:|(?:imp|exp)dp\s{1,3})[\w$#]{1,64}/(?P<value>[^\s@/]{2,128})@",
            _is_said,
            "password of a connection",
        ),
        (
            ("securestring",),
            r"ConvertTo-SecureString\s{1,3}(?:-String\s{1,3})?[\"'](?P<value>[^\"'\n]{2,256})[\"']",
            _is_said,
            "password of a command",
        ),
        (
            (
                "contrasena",
                "mot de passe",
                "senha",
                "пароль",
                "密码",
                "密碼",
                "パスワード",
                "비밀번호",
                "haslo",
                "wachtwoord",
                "parola",
            ),
            r"(?:mot de passe|contrasena|senha|пароль|密码|密碼|パスワード|비밀번호|haslo|wachtwoord|parola)"
            r"[ \t]{0,3}[:=][ \t]{0,8}" + _WORD,
            looks_chosen,
            "value behind its name",
        ),
    )
)
_NAMED: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = (
    (  # rows of a list of settings, and how Python writes them
        ("value", "val"),
        re.compile(
            r"(?<![\w\-])(?:name|key|field)[\"']?\s?[:=]\s?[\"']?(?P<name>[\w.\-]{1,128})[\"']?,?\s{1,64}"
            r"[\"']?(?:value|val)[\"']?\s?[:=]\s?[\"']?(?P<value>[^\s\"'{}\[\]][^\s\"']{0,4095})"
        ),
    ),
    (
        ("', ", '", ', "','", '","'),
        re.compile(
            r"[\"'](?P<name>-{0,2}[A-Za-z][\w\-]{1,63})[\"'],\s{0,3}(?=b?[\"'](?P<value>[^\"'\n\\]{2,4096})[\"'])"
        ),
    ),
    (("%3d",), re.compile(r"(?P<name>[A-Za-z][\w\-]{1,63})%3[dD](?P<value>(?!%)[^\s&\"'<>%]{2,2048})")),
)


def by_custom(text: str, extra: frozenset[str]) -> Iterator[Found]:
    """Yield what everyday forms tell."""
    lower = text.lower()
    for anchors, pattern, right, why in _FORMS:
        if any(anchor in lower for anchor in anchors):
            for match in pattern.finditer(text):
                value = match["value"].rstrip(".)")
                if right(value):
                    yield Found(match.start("value"), match.start("value") + len(value), SECRET, why)
    for anchors, pattern in _NAMED:
        if any(anchor in lower for anchor in anchors):
            for match in pattern.finditer(text):
                name, value = match["name"], match["value"]
                bare = name.lstrip("-")
                strong = is_header(bare) or named(bare, extra) is Named.STRONG
                if strong and (looks_chosen(value) or (name != bare and not value.startswith("-") and _is_said(value))):
                    yield Found(*match.span("value"), SECRET, f"value of {bare[-64:]}")
