"""Where the viewer may listen: on this machine, or elsewhere once a login is configured in Streamlit's secrets.toml.

The app asks the same before it draws (`viewer/access.py`), from what Streamlit itself read; this says it before
anything is started, and tells Streamlit by which names it may be spoken to.
"""

import importlib.util
import ipaddress
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from spectrace.errors import UsageError

LOCAL = "127.0.0.1"
_LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]", "::1")
_ALWAYS = ("redirect_uri", "cookie_secret")
_PROVIDER = ("client_id", "client_secret", "server_metadata_url")
_LEAST_SECRET = 32
_EXAMPLE = (
    "[auth] in .streamlit/secrets.toml with redirect_uri, cookie_secret (32 random characters or more), client_id, "
    "client_secret and server_metadata_url of an OpenID Connect provider, and [spectrace] users = [...] for whom to "
    "let in"
)


def is_local(address: str) -> bool:
    """Whether that address can be reached from this machine only."""
    try:
        return address == "localhost" or ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def allowed_hosts(address: str) -> list[str]:
    """Return the names by which the viewer may be asked for; raise UsageError where it may not listen there."""
    if is_local(address):
        return list(dict.fromkeys((*_LOCAL_NAMES, address)))
    auth = _login(Path.cwd(), Path.home())
    if auth is None:
        raise UsageError(
            f"the viewer shows whatever was recorded to whoever can reach it, so it listens on {LOCAL} only; for "
            f"{address!r} configure a login first: {_EXAMPLE}."
        )
    missing = [name for name in _ALWAYS if not auth.get(name)]
    if not any(all(one.get(name) for name in _PROVIDER) for one in _providers(auth)):
        missing += [name for name in _PROVIDER if not auth.get(name)]
    if missing:
        raise UsageError(f"[auth] in secrets.toml lacks {', '.join(missing)}: expected {_EXAMPLE}.")
    if len(str(auth["cookie_secret"])) < _LEAST_SECRET:
        raise UsageError(
            f"cookie_secret in secrets.toml signs who is logged in and has fewer than {_LEAST_SECRET} characters: "
            "`python -c 'import secrets; print(secrets.token_hex())'` makes one."
        )
    if importlib.util.find_spec("authlib") is None:
        raise UsageError("a login needs Authlib: pip install 'streamlit[auth]'.")
    host = urlsplit(str(auth["redirect_uri"])).hostname
    return [name for name in dict.fromkeys((host, address)) if name and not _is_any(name)]


def _login(*folders: Path) -> Mapping[str, object] | None:
    """Return [auth] of the last secrets.toml that has it, in the order in which Streamlit reads them."""
    found: Mapping[str, object] | None = None
    for folder in reversed(folders):
        path = folder / ".streamlit" / "secrets.toml"
        if not path.is_file():
            continue
        try:
            auth = tomllib.loads(path.read_text(encoding="utf-8")).get("auth")
        except (OSError, ValueError) as error:
            raise UsageError(f"{path} cannot be read: {error}.") from error
        found = auth if isinstance(auth, dict) else found
    return found


def _providers(auth: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    yield auth
    for section in auth.values():
        if isinstance(section, dict):
            yield section


def _is_any(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_unspecified
    except ValueError:
        return False
