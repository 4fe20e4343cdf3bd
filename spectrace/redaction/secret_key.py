"""The key that placeholders are made with: a file of the user's, made on first use, or an environment variable.

Whoever has it can test guesses at what a placeholder stands for, so nobody else may read the file, and only a short id
of it is ever recorded. Without it an episode still replays; a fork needs it, to meet the recorded placeholders again.
"""

import hashlib
import hmac
import os
import secrets
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from spectrace.errors import UsageError
from spectrace.redaction.rules import Rules

_BYTES = 32
_LEAST = 32
"""Characters of a key: 128 bits in hex."""
_TAG = 12
_ID = 8


class SecretKey:
    """A key and its short id; never shown."""

    __slots__ = ("_key", "id")

    def __init__(self, key: bytes) -> None:
        """Take the key's bytes."""
        self._key = key
        self.id = hashlib.sha256(b"spectrace redaction key\n" + key).hexdigest()[:_ID]

    @classmethod
    def ephemeral(cls) -> "SecretKey":
        """Return a key of this moment, for texts that are shown and not recorded."""
        return cls(secrets.token_bytes(_BYTES))

    def __repr__(self) -> str:
        """Name it by its id."""
        return f"SecretKey({self.id})"

    def tag(self, value: str) -> str:
        """Return the keyed digest of a text, shortened: 48 bits tell an episode's secrets apart."""
        return hmac.new(self._key, value.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:_TAG]


def key_for(rules: Rules, environ: Mapping[str, str]) -> SecretKey:
    """Return the key that the rules name; by default that of the user, made here when there is none."""
    if rules.key_env is not None:
        value = environ.get(rules.key_env, "").strip()
        if len(value) < _LEAST:
            what = "is not set" if not value else f"has {len(value)} characters"
            raise UsageError(
                f"redaction.key_env names the variable {rules.key_env}, which {what}: it should hold at least {_LEAST} "
                "random characters, e.g. of `openssl rand -hex 32`."
            )
        return SecretKey(value.encode("utf-8", "surrogateescape"))
    if rules.key_file is not None:
        return _read(rules.key_file, "redaction.key_file")
    path = default_file(environ)
    try:
        return _read(path, "the key of redaction")
    except FileNotFoundError:
        _make(path)
    return _read(path, "the key of redaction")


def default_file(environ: Mapping[str, str]) -> Path:
    """Return where a user's key lies."""
    config = environ.get("XDG_CONFIG_HOME", "")
    return (Path(config) if config else Path("~/.config").expanduser()) / "spectrace" / "redaction.key"


def _make(path: Path) -> None:
    """Make a key; of two processes that do so at once, one wins and both use its key."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        own = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        descriptor = os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(f"{secrets.token_hex(_BYTES)}\n")
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(own, path)  # unlike a rename, it takes no other's key away
        finally:
            own.unlink()
    except OSError as error:
        raise UsageError(
            f"the key of redaction cannot be made at {path}: {error.strerror or error}. Name another file or variable: "
            "`key_file` or `key_env` of [redaction] in spectrace.toml."
        ) from None


def _read(path: Path, what: str) -> SecretKey:
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            found = file.read(4096).strip()
    except FileNotFoundError:
        if what == "redaction.key_file":
            raise UsageError(f"{what} is {path}, which is not there: make it with `openssl rand -hex 32`.") from None
        raise
    except OSError as error:
        raise UsageError(f"{what}, {path}, cannot be read: {error.strerror or error}.") from None
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise UsageError(f"{what}, {path}, can be read by others (mode {stat.S_IMODE(mode):o}): chmod 600 {path}.")
    if len(found) < _LEAST:
        raise UsageError(f"{what}, {path}, should hold at least {_LEAST} random characters, found {len(found)}.")
    return SecretKey(found)
