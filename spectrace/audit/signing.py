"""Who signs checkpoints: Ed25519 keys in the text format of C2SP signed notes, and what a note's signatures prove.

A secret key is a file that only its owner may read; it is never shown, and no message repeats any of it. The same key
signs its own log's checkpoints, or cosigns another's: cosignatures have a key id of their own (0x04).
"""

import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from spectrace.core import notes
from spectrace.core.notes import BadNote, Key, Note, Signature
from spectrace.errors import UsageError
from spectrace.store.new_file import new_file

_SEED_BYTES = 32
_MAX_KEY = 4096


class Signer:
    """A secret key; never shown."""

    __slots__ = ("_secret", "key")

    def __init__(self, name: str, seed: bytes) -> None:
        """Take a seed of 32 bytes."""
        self._secret = Ed25519PrivateKey.from_private_bytes(seed)
        self.key = Key(notes.check_name(name), notes.ED25519, self._secret.public_key().public_bytes_raw())

    def __repr__(self) -> str:
        """Name it by its public half."""
        return f"Signer({self.key})"

    def sign(self, text: str) -> Note:
        """Return the text as a note that this key has signed."""
        return Note(text, (Signature(self.key.name, self.key.id, self._secret.sign(text.encode())),))

    def cosign(self, note: Note, time_s: int) -> Note:
        """Return the note with this key's cosignature: that it stood so at that time."""
        signed = self._secret.sign(notes.cosigned_text(note.text, time_s))
        key = self.key.cosigner
        return note.signed_by(Signature(key.name, key.id, notes.cosignature(time_s, signed)))

    def secret_text(self) -> str:
        """Return the secret key as its file holds it."""
        return notes.secret_text(self.key, self._secret.private_bytes_raw())


@dataclass(frozen=True, slots=True)
class Signed:
    """A key's signature on a note holds; `time_s` is a cosigner's word for when it saw it."""

    key: Key
    time_s: int | None = None


def make_key(name: str, path: Path) -> Key:
    """Make a key: the secret half at `path`, for its owner only, the public one beside it; replace nothing."""
    try:
        signer = Signer(name, secrets.token_bytes(_SEED_BYTES))
    except BadNote as error:
        raise UsageError(f"{error}.") from None
    public = public_file(path)
    if public.exists():
        raise UsageError(f"{public} is there already: a key is never replaced, give another name with -o.")
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UsageError(f"{path} is there already: a key is never replaced, give another name with -o.") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from None
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(f"{signer.secret_text()}\n")
        file.flush()
        os.fsync(file.fileno())
    with new_file(public, public=True) as file:
        file.write(f"{signer.key}\n".encode())
    return signer.key


def public_file(path: Path) -> Path:
    """Return where the public half of a key lies."""
    return path.with_name(f"{path.name}.pub")


def read_signer(path: Path) -> Signer:
    """Read a secret key; raise UsageError, which repeats none of it."""
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            data = file.read(_MAX_KEY)
    except OSError as error:
        raise UsageError(f"the key {path} cannot be read: {error.strerror}.") from None
    if os.name == "posix" and mode & 0o077:
        raise UsageError(f"the key {path} can be read by others (mode {mode:o}): chmod 600 {path}.")
    try:
        name, seed, said = notes.parse_secret(data.decode("utf-8", "replace").strip())
        signer = Signer(name, seed)
    except BadNote as error:
        raise UsageError(
            f"{path} holds no secret key: {error}. `spectrace checkpoint key NAME -o FILE` makes one."
        ) from None
    if signer.key.id != said:
        raise UsageError(f"the key {path} was altered or cut: its id is not that of its bytes.")
    return signer


def read_key(text: str) -> Key:
    """Read a public key, given as it stands or as the name of a file that holds it; raise UsageError."""
    path = Path(text)
    try:
        said = path.read_bytes()[:_MAX_KEY].decode("utf-8", "replace").strip() if path.is_file() else text.strip()
    except OSError as error:
        raise UsageError(f"the key {path} cannot be read: {error.strerror}.") from None
    try:
        return notes.parse_key(said)
    except BadNote as error:
        where = f"{path} holds no public key" if path.is_file() else f"{text[:60]!r} is neither a file nor a public key"
        where = "what was given is no public key" if "PRIVATE+KEY" in text else where
        raise UsageError(f"{where}: {error}.") from None


def signed_by(note: Note, key: Key) -> bool:
    """Whether the key itself signed the note, not as a cosigner."""
    own = Key(key.name, notes.ED25519, key.public)
    return any(_holds(note, own, one) is not None for one in own.among(note.signatures))


def cosigned_by(note: Note, key: Key) -> Signed | None:
    """Return what the key's cosignature proves; None where there is none that holds."""
    own = key.cosigner
    return next((found for one in own.among(note.signatures) if (found := _holds(note, own, one))), None)


def _holds(note: Note, key: Key, signature: Signature) -> Signed | None:
    try:
        public = Ed25519PublicKey.from_public_bytes(key.public)
        if key.kind == notes.ED25519:
            public.verify(signature.data, note.text.encode())
            return Signed(key)
        time_s, data = notes.split_cosignature(signature.data)
        public.verify(data, notes.cosigned_text(note.text, time_s))
        return Signed(key, time_s)
    except (InvalidSignature, BadNote):
        return None
