"""Keys and URLs: which credential may reach which host.

A model in spectrace.toml names its key (`key_env`, `key_file`); a literal key is refused, because that file is shared
and committed. A provider's default key goes to that provider's own host over TLS and nowhere else. An `Endpoint` holds
the URL without credentials, so nothing that prints or records one can leak them.
"""

import base64
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from spectrace.errors import UsageError

DEFAULT_KEYS = {"openai": ("api.openai.com", "OPENAI_API_KEY")}
"""Provider -> (its own host, the environment variable that its users have set)."""

_LITERAL = re.compile(r"^(api[_-]?key|key|token|secret|password|authorization|bearer)$", re.IGNORECASE)
_TLS_PORT = 443


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where requests go, and the one Authorization header that goes with them."""

    url: str
    """Scheme, host, port and path: no credentials, no query, no trailing slash."""
    authorization: str | None = field(default=None, repr=False)
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
    secrets = tuple(text for text in (api_key, password, parts.password) if text)
    return Endpoint(clean, _authorization(api_key, user, password), query, secrets)


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


def key_for(model: str, provider: str, url: str, table: Mapping[str, object], environ: Mapping[str, str]) -> str | None:
    """Return the key for a model: the one its table names, else the provider's default on its own host, else None."""
    for name in table:
        if _LITERAL.match(name):
            raise UsageError(
                f"Model {model!r} has a literal key ({name} = ...). Put the key into an environment variable or a file "
                f'and name that: key_env = "NAME" or key_file = "PATH".'
            )
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


def _from_environment(model: str, name: str, environ: Mapping[str, str]) -> str:
    key = environ.get(name, "").strip()
    if not key:
        raise UsageError(f"Model {model!r} takes its key from the environment variable {name}, which is not set.")
    return _checked(model, key, f"the environment variable {name}")


def _from_file(model: str, path: Path) -> str:
    try:
        key = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"Model {model!r} takes its key from the file {path}, which cannot be read: {why}.") from error
    return _checked(model, key, f"the file {path}")


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
