"""Which names are those of secrets: `password`, `apiKey`, `X-Api-Key`, `SEARCH_KEY`; not `tokens` or `next_token`.

A *strong* name makes a secret of whatever stands there. A *weak* one (`session_id`, `cache_key`) only of what looks
like one: names of vendors are endless, but so are keys that open nothing.
"""

import re
from enum import Enum
from functools import lru_cache

from spectrace.redaction.findings import words

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_LONGEST = 128
"""Characters of a name that are looked at, its last ones: a hostile text may have a name without end."""

_ALONE = words(
    "password passwd passphrase passcode pwd secret secrets credential credentials authorization bearer apikey "
    "authtoken accesstoken secretkey accesskey privatekey apitoken clientsecret passwort kennwort cookie contrasena "
    "mnemonic sshpass cvv cvc senha"
)
"""Last words that are enough; `contrasena` and `passwort` are what people call them elsewhere."""
_OF_KEY = words(
    "api access secret private auth service signing encryption account client db database master ssh license admin "
    "subscription storage shared consumer app application deploy hmac"
)
"""What stands before `key` where it opens something."""
_NO_TOKEN = words(
    "next page prev previous continuation sync stop pad bos eos unk mask sep cls start end first last max min new "
    "image special cursor resume num per input output prompt completion cached reasoning total by"
)
"""What stands before `token` where it opens nothing: places in lists and pieces of text."""
_NO_KEY = words(
    "primary foreign sort partition cache idempotency public order unique composite routing map dict json group "
    "translation i18n hot arrow shift natural surrogate key the a an"
)
_WEAK = words("key token auth sid session sessionid signature sig pin otp jwt csrf xsrf pass nonce")
_QUERY = words("key token sig signature auth code sid session pass pwd password secret apikey jwt")
_VARIABLES = words("password passwd passphrase pwd pass pw secret token key apikey cookie credentials")
_NUMBERS_SAY_NOTHING = frozenset({"1", "2", "3", "old", "new", "current", "value", "env", "prod", "dev", "test"})


_ENDINGS = ("password", "passwd", "passphrase")
"""Ends of a word that are enough: PGPASSWORD, userpassword."""
_ASKS = words("has is no need needs require requires forgot forgotten show hide with without by")
"""What stands before `password` where it is none."""
_MANY = words("passwords passwds passphrases passcodes secrets credentials apikeys")
_BESIDE = words(
    "type kind format title description name id user username userid login email mail host hostname port url uri path "
    "status state created updated expires expiry scope scopes region namespace version label labels metadata required "
    "enum pattern examples ref anyof oneof allof properties items minlength maxlength database db project issuer "
    "message messages error errors comment note hint help role roles count length algorithm alg provider domain"
)
"""What stands beside a secret in its own object and is none."""


class Named(Enum):
    """What a name says of what stands there."""

    NOTHING = 0
    WEAK = 1
    HELD = 2
    """Somewhere inside what goes by a secret's name, under a name of its own."""
    STRONG = 3


_FOLDED = {
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},
    **str.maketrans("ñÑáéíóúłŁ\u00a0\u3000\u202f“”\u2018\u2019", "nNaeioulL   \"\"''"),
}
_TO_FOLD = re.compile("[" + "".join(re.escape(chr(code)) for code in _FOLDED) + "]")
"""Fullwidth letters and signs, accents in names, other spaces and quotes: one character each, so places stay."""


def folded(text: str) -> str:
    """Return a text as names and signs are read in it, of the very same length."""
    return text if text.isascii() or _TO_FOLD.search(text) is None else text.translate(_FOLDED)


@lru_cache(maxsize=4096)
def named(name: str, extra: frozenset[str] = frozenset()) -> Named:
    """Judge a field's name, in any spelling; `extra` are the user's own, lower case, without separators."""
    name = folded(name[-_LONGEST:])
    if re.sub(r"[^0-9a-z]", "", name.lower()) in extra:
        return Named.STRONG
    words = [word.lower() for word in _WORDS.findall(name)]
    while len(words) > 1 and words[-1] in _NUMBERS_SAY_NOTHING:
        words.pop()
    if not words:
        return Named.NOTHING
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if before in _ASKS and last.endswith(_ENDINGS):
        return Named.NOTHING
    if (
        last in _ALONE
        or last.endswith(_ENDINGS)
        or (last in {"pass", "pw"} and before and before not in {"by", "first", "second"})
    ):
        return Named.STRONG
    if last == "token":
        return Named.NOTHING if before in _NO_TOKEN else Named.STRONG
    if last == "key" and before:
        shouted = name.isupper() and "_" in name
        if before in _NO_KEY:
            return Named.NOTHING
        return Named.STRONG if before in _OF_KEY or shouted else Named.WEAK
    return Named.WEAK if last in _WEAK or (last == "id" and before in {"session", "sess"}) else Named.NOTHING


@lru_cache(maxsize=4096)
def holds_secrets(name: str, extra: frozenset[str] = frozenset()) -> bool:
    """Whether secrets lie inside a field of that name: `passwords`, `api_keys`, and whatever is one itself."""
    words = [word.lower() for word in _WORDS.findall(name[-_LONGEST:])]
    last, before = words[-1] if words else "", words[-2] if len(words) > 1 else ""
    if last in _MANY or (last in {"keys", "tokens"} and before in _OF_KEY):
        return True
    return last not in {"cookie", "token", "authorization"} and named(name, extra) is Named.STRONG


def is_plural(name: str) -> bool:
    """Whether a name is that of a place for several secrets, each under a name of its own."""
    words = _WORDS.findall(name[-_LONGEST:])
    return bool(words) and (words[-1].lower() in _MANY or words[-1].lower() in {"keys", "tokens"})


def is_beside(name: str) -> bool:
    """Whether a field inside a secret's object only describes it, as its type or its user does."""
    words = [word.lower() for word in _WORDS.findall(name[-_LONGEST:])]
    return not words or words[-1] in _BESIDE or words[-1] == "at"


def is_a_variable(name: str) -> bool:
    """Whether a shell's variable of that name, in small letters, is a blank for a secret: `$db_password`."""
    words = name.lower().split("_")
    return words[-1] in _VARIABLES and all(
        word in _OF_KEY or word in {"user", "my", "new", "old"} for word in words[:-1]
    )


def in_query(name: str, extra: frozenset[str] = frozenset()) -> bool:
    """Whether a parameter of a URL holds a secret: there `key` alone is one."""
    found = named(name, extra)
    return found is Named.STRONG or name.lower() in _QUERY or (found is Named.WEAK and "key" in name.lower())


@lru_cache(maxsize=64)
def endings(extra: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the last two characters that a secret's name can have: most names are told apart by them at once."""
    last = {*_ALONE, *_ENDINGS, *_WEAK, *_NUMBERS_SAY_NOTHING, *_HEADERS, *extra, "token", "key", "pass", "pw", "id"}
    return frozenset(word[-2:] for word in last if len(word) > 1) | {
        f"{other}{digit}" for digit in "123" for other in "abcdefghijklmnopqrstuvwxyz0123456789_-."
    }


_HEADERS = frozenset({"authorization", "proxyauthorization", "cookie", "setcookie"})


def is_header(name: str) -> bool:
    """Whether a header's whole value is a credential."""
    return name.replace("-", "").lower() in _HEADERS
