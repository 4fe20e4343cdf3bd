"""What was done to a database as a whole: the `admin.*` events. Part of the vocabulary in `events.py`.

They form an episode of their own, `admin-<12 hex digits>`, with the same chain as any other: the *administrative
log*. Each **epoch** of a database has one. An upgrade goes on with it; a restored backup begins the next epoch, whose
first event names the head of the one before. A database has no run in it and no model judges it, so nothing here is
folded or projected.
"""

from dataclasses import dataclass
from typing import ClassVar

from spectrace.core.episode_events import StartedBy

ADMIN_PREFIX = "admin-"
"""The ids of administrative logs begin so; no run's id may."""


def is_admin(episode: str) -> bool:
    """Return whether an episode of that id may be an administrative log."""
    return episode.startswith(ADMIN_PREFIX)


@dataclass(frozen=True, slots=True)
class EpochHead:
    """An administrative log as it stood: its id, how many events it had, its last link in hex."""

    episode: str
    events: int
    head: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminOpened:
    """First event of an epoch. `reason`: created, upgraded (it had no such log yet), restored, copied, unpacked."""

    TYPE: ClassVar[str] = "admin.opened"
    VERSION: ClassVar[int] = 1

    reason: str
    by: StartedBy
    spectrace: str
    revision: str
    episodes: int
    """How many episodes the database held already."""
    previous: EpochHead | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminUpgraded:
    """The database was brought to another revision, or (`from` = `to`) lost triggers were put back."""

    TYPE: ClassVar[str] = "admin.upgraded"
    VERSION: ClassVar[int] = 1

    by: StartedBy
    spectrace: str
    from_revision: str
    to_revision: str
    triggers: tuple[str, ...] = ()
    """Those that were missing, altered or switched off, and were put back."""
    backup: str | None = None
    """The backup's file name; None where none was made."""
    backup_digest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminRestored:
    """The database was replaced by a backup."""

    TYPE: ClassVar[str] = "admin.restored"
    VERSION: ClassVar[int] = 1

    by: StartedBy
    spectrace: str
    backup: str
    """The backup's file name."""
    backup_digest: str
    backup_revision: str
    replaced: str | None
    """The name that the file which stood there before has now; None where there was none."""
    replaced_digest: str | None
    replaced_epoch: EpochHead | None
    """The administrative log that ended with it; None where there was none, or it could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminBegun:
    """Episodes begin to come from elsewhere: without the record that `what` names, after it, not all of them came."""

    TYPE: ClassVar[str] = "admin.begun"
    VERSION: ClassVar[int] = 1

    by: StartedBy
    spectrace: str
    what: str
    """The record that ends it: copied, imported, unpacked."""
    source: str
    """As the record that ends it says it."""
    source_digest: str | None
    episodes: int
    """How many the source holds."""
    source_epoch: EpochHead | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminImported:
    """Episodes were made from a file of another format."""

    TYPE: ClassVar[str] = "admin.imported"
    VERSION: ClassVar[int] = 1

    by: StartedBy
    spectrace: str
    source: str
    source_digest: str | None
    episodes: int
    selection_digest: str
    """The digest of which episodes, as (episode, head) pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminUnpacked:
    """Episodes came out of a bundle."""

    TYPE: ClassVar[str] = "admin.unpacked"
    VERSION: ClassVar[int] = 1

    by: StartedBy
    spectrace: str
    source: str
    source_digest: str | None
    episodes: int
    selection_digest: str
    """The digest of which episodes, as (episode, head) pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminCopied:
    """Episodes came from another database."""

    TYPE: ClassVar[str] = "admin.copied"
    VERSION: ClassVar[int] = 1

    by: StartedBy
    spectrace: str
    source: str
    """The other database's file name or URL, without credentials."""
    source_digest: str | None
    episodes: int
    selection_digest: str
    """The digest of which episodes, as (episode, head) pairs."""
    source_epoch: EpochHead | None = None


@dataclass(frozen=True, slots=True)
class ErasedRange:
    """Events of one episode without a body from now on: from `first` to `last`, both included."""

    episode: str
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminErased:
    """Bodies and salts of events were erased; headers, links and proofs stay."""

    # Of what was looked for nothing is kept, not even a digest: a short text could be guessed from it.

    TYPE: ClassVar[str] = "admin.erased"
    VERSION: ClassVar[int] = 1

    by: StartedBy
    spectrace: str
    person: str | None
    """Who ordered it, by their own word."""
    reason: str | None
    how: str
    """named (episodes or events), matching (a text), before (a time), retention (the project's rule)."""
    events: tuple[ErasedRange, ...]
    blobs: int
    """How many texts were removed that no other event refers to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminKeyChanged:
    """From now on another key is used. `what`: checkpoint (it signs) or redaction (it makes placeholders)."""

    TYPE: ClassVar[str] = "admin.key_changed"
    VERSION: ClassVar[int] = 1

    by: StartedBy
    spectrace: str
    what: str
    key: str
    """The verifier key of a signer, as C2SP signed notes write it; of a secret key its short id."""
    previous: str | None
    """The one before; None for the first."""


AdminBody = (
    AdminOpened
    | AdminUpgraded
    | AdminRestored
    | AdminImported
    | AdminUnpacked
    | AdminCopied
    | AdminBegun
    | AdminErased
    | AdminKeyChanged
)
