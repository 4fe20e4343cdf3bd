"""Keys and URLs: which credential may reach which host.

A model in spectrace.toml names its key (`key_env`, `key_file`); a literal key is refused wherever it stands, because
that file is shared and committed, and what a model is sent is recorded. A provider's default key goes to that
provider's own host over TLS and nowhere else. An `Endpoint` holds the URL without credentials, so nothing that prints
or records one can leak them.
"""

import base64
import ipaddress
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlsplit, urlunsplit

from spectrace.errors import UsageError

DEFAULT_KEYS = {
    "anthropic": ("api.anthropic.com", "ANTHROPIC_API_KEY"),
    "openai": ("api.openai.com", "OPENAI_API_KEY"),
}
"""Provider -> (its own host, the environment variable that its users have set)."""

_SECRET_NAME = re.compile(
    r"(key|token|bearer)|.*(api_?key|secret_?key|access_?key|auth_?token|access_?token|api_?token|secret|password|"
    r"passwd|passphrase|authorization|credentials?)",
    re.IGNORECASE,
)
"""What a literal key is called, in any spelling; not `stop_token` or `prompt_cache_key`, which are parameters."""
_SECRET_VALUE = re.compile(r"(bearer|basic)\s+\S+", re.IGNORECASE)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LIKELY_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
_TODO = (
    "Put the key into an environment variable or a file and name that in the model's table: "
    'key_env = "NAME" or key_file = "PATH".'
)
_TLS_PORT = 443
_KEY_LENGTH = 16
"""So long a user name beside a password is scrubbed as well; shorter ones are words that other texts hold too."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where requests go, and the one Authorization header that goes with them."""

    url: str
    """Scheme, host, port and path: no credentials, no query, no trailing slash."""
    authorization: str | None = field(default=None, repr=False)
    key: str | None = field(default=None, repr=False)
    """The key itself, for the one header that some dialects have for it."""
    query: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def scrub(self, text: str) -> str:
        """Return the text without the credentials, should a server or library have echoed them."""
        for secret in self.secrets:
            text = text.replace(secret, "[key]")
        return text


def endpoint(url: str, api_key: str | None = None) -> Endpoint:
    """Split a URL from its credentials; a key wins over `user:password@`."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        shown = url.rpartition("@")[2].partition("?")[0]
        raise UsageError(f"A model server's URL is http://HOST[:PORT][/PATH] or https://..., found {shown!r}.")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    netloc = host if port is None else f"{host}:{port}"
    clean = urlunsplit((parts.scheme, netloc, parts.path.rstrip("/"), "", ""))
    query = tuple(parse_qsl(parts.query))
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    authorization = _authorization(api_key, user, password)
    sent = [api_key, password, parts.password, *(value for name, value in query if _is_secret(name))]
    if not password or len(user) >= _KEY_LENGTH:  # `https://KEY@host`, `https://KEY:x-oauth-basic@host`
        sent += [user, parts.username]
    if authorization is not None:
        sent.append(authorization.partition(" ")[2])
    spellings = {spelling for text in sent if text for spelling in (text, json.dumps(text)[1:-1], quote(text, safe=""))}
    return Endpoint(clean, authorization, api_key or None, query, tuple(sorted(spellings, key=len, reverse=True)))


def _is_secret(name: str) -> bool:
    return _SECRET_NAME.fullmatch(name.replace("-", "_")) is not None


def _authorization(api_key: str | None, user: str, password: str) -> str | None:
    if api_key:
        return f"Bearer {api_key}"
    if user or password:
        return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"
    return None


def is_own_host(provider: str, url: str) -> bool:
    """Whether the URL is the provider's own, over TLS: the only place its default key may go."""
    if provider not in DEFAULT_KEYS:
        return False
    parts = urlsplit(url)
    return parts.scheme == "https" and parts.hostname == DEFAULT_KEYS[provider][0] and parts.port in {None, _TLS_PORT}


def default_variable(url: str) -> str | None:
    """Return the environment variable whose key goes to this URL where a model names none; None: no key does."""
    return next((name for provider, (_, name) in DEFAULT_KEYS.items() if is_own_host(provider, url)), None)


def key_for(model: str, provider: str, url: str, table: Mapping[str, object], environ: Mapping[str, str]) -> str | None:
    """Return the key for a model: the one its table names, else the provider's default on its own host, else None."""
    refuse_literal_keys(f"Model {model!r}", table)
    key_env, key_file = table.get("key_env"), table.get("key_file")
    if key_env is not None and key_file is not None:
        raise UsageError(f"Model {model!r} names both key_env and key_file: keep one.")
    if key_env is not None:
        return _from_environment(model, str(key_env), environ)
    if key_file is not None:
        return _from_file(model, Path(str(key_file)).expanduser())
    if is_own_host(provider, url):
        return environ.get(DEFAULT_KEYS[provider][1]) or None
    return None


def refuse_literal_keys(model: str, table: Mapping[str, object]) -> None:
    """Raise UsageError, without repeating it, for a key in a model's table, at any depth."""
    found = next(_literal_keys("", table, secret=False), None)
    if found is not None:
        raise UsageError(f"{model} has a literal key ({found} = ...): it would be recorded. {_TODO}")
    name = table.get("key_env")
    if isinstance(name, str) and _VARIABLE.fullmatch(name) is None:
        raise UsageError(
            f"{model}: key_env is the name of an environment variable (letters, digits and _), and what stands there "
            f"is none; it is not repeated here, because it may be the key itself. {_TODO}"
        )


def _literal_keys(path: str, value: object, *, secret: bool) -> Iterator[str]:
    """Yield the path of every text that is a key by its name, or by how it begins."""
    match value:
        case str():
            if value and (secret or _SECRET_VALUE.fullmatch(value)):
                yield path
        case Mapping():
            for name, item in value.items():
                yield from _literal_keys(f"{path}.{name}".lstrip("."), item, secret=secret or _is_secret(str(name)))
        case list() | tuple():
            for index, item in enumerate(value):
                yield from _literal_keys(f"{path}[{index}]", item, secret=secret)
        case _:
            return


def _from_environment(model: str, name: str, environ: Mapping[str, str]) -> str:
    # Some keys could be names of variables too: only what looks like one is repeated.
    shown = f"variable {name}" if _LIKELY_VARIABLE.fullmatch(name) else "variable that key_env names"
    key = environ.get(name, "").strip()
    if not key:
        raise UsageError(f"Model {model!r} takes its key from the environment {shown}, which is not set.")
    return _checked(model, key, f"the environment {shown}")


def _from_file(model: str, path: Path) -> str:
    # A key pasted here has no folder and no ending: only what looks like a path is repeated.
    shown = str(path) if path.parent != Path() or path.suffix else "that key_file names"
    try:
        key = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"Model {model!r} takes its key from the file {shown}, which cannot be read: {why}.") from None
    return _checked(model, key, f"the file {shown}")


def _checked(model: str, key: str, where: str) -> str:
    """Refuse what cannot be a header's value, before an HTTP library prints it in an error."""
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise UsageError(f"Model {model!r}: {where} should hold one key, a single line of printable ASCII.")
    return key


def is_loopback(url: str) -> bool:
    """Whether the URL names this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
