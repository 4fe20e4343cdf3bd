"""The manifest of a bundle: which episodes, how long, with what head; which other members, with what digest.

Counterpart of `schemas/bundle.v1.json` and `schemas/FORMAT.md`. It holds no time and no name of who packed it, so that
the same episodes give the same manifest. What it does not know it passes over, a newer major version it refuses.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

import orjson

from spectrace.core.digest import canonical
from spectrace.core.events import MAX_SEQ
from spectrace.errors import NewerSchema
from spectrace.store.names import is_episode_id
from spectrace.store.rows import Damage

FORMAT = "spectrace.bundle.v1"
NAME = "manifest.json"

_FORMAT = re.compile(r"spectrace\.bundle\.v([1-9][0-9]{0,3})")
_HEX = re.compile(r"[0-9a-f]{64}")
_STATES = ("ended", "interrupted", "running")
_KINDS: Mapping[type, str] = MappingProxyType(
    {
        dict: "an object",
        list: "a list",
        str: "a text",
        int: "an integer",
        float: "a fraction",
        bool: "true or false",
        type(None): "null",
    }
)
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Entry:
    """An episode of the bundle."""

    episode: str
    events: int
    head: bytes
    state: str
    """ended, interrupted, or running: it was being written, and what had been committed was packed."""
    started_at: int
    ended_at: int | None

    def differences(self, events: int, head: bytes, started_at: int | None, ended_at: int | None) -> str | None:
        """Say what of this its events, counted and read, tell otherwise; None for nothing."""
        told = (
            ("events", self.events, events),
            ("head", self.head.hex()[:16], head.hex()[:16]),
            ("state", self.state, "ended" if ended_at is not None else "not ended"),
            ("started_at", self.started_at, started_at),
            ("ended_at", self.ended_at, ended_at),
        )
        differing = [
            f"`{name}` is {said} there, {found} by its events"
            for name, said, found in told
            if (said == "ended") != (found == "ended") or (name != "state" and said != found)
        ]
        return f"{self.episode} is not what the manifest says: {'; '.join(differing)}" if differing else None


@dataclass(frozen=True, slots=True)
class Member:
    """What a member of the zip must hold."""

    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Period:
    """[since, until), UTC microseconds; None is without end. A bundle that says it left out no run begun in it."""

    since: int | None
    until: int | None

    def holds(self, started_at: int) -> bool:
        """Whether an episode that began then belongs to it."""
        return (self.since is None or self.since <= started_at) and (self.until is None or started_at < self.until)


@dataclass(frozen=True, slots=True)
class Manifest:
    """The whole of it."""

    spectrace: str
    episodes: tuple[Entry, ...]
    members: Mapping[str, Member]
    """All but the manifest itself and the blobs, which are named by their digest."""
    blobs: int
    blob_bytes: int
    period: Period | None = None
    """What it claims to be the whole of; None where it claims nothing."""

    def text(self) -> bytes:
        """Return the member's content: canonical JSON."""
        period = None if self.period is None else {"since": self.period.since, "until": self.period.until}
        return canonical(
            {
                **({} if period is None else {"period": period}),
                "format": FORMAT,
                "spectrace": self.spectrace,
                "episodes": [
                    {
                        "episode": one.episode,
                        "events": one.events,
                        "head": one.head.hex(),
                        "state": one.state,
                        "started_at": one.started_at,
                        "ended_at": one.ended_at,
                    }
                    for one in self.episodes
                ],
                "members": {name: {"sha256": one.sha256, "bytes": one.bytes} for name, one in self.members.items()},
                "blobs": {"count": self.blobs, "bytes": self.blob_bytes},
            }
        )


def parse_manifest(data: bytes) -> Manifest:
    """Return a manifest; raise NewerSchema for a newer major version, Damage for what is none."""
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise Damage(f"{NAME} is not JSON ({error}).") from None
    if not isinstance(value, dict):
        raise Damage(f"{NAME} is {_KINDS[type(value)]}; an object was expected.")
    _check_format(value.get("format"))
    members, blobs = _given(value, "members", dict), _given(value, "blobs", dict)
    return Manifest(
        spectrace=_given(value, "spectrace", str),
        episodes=tuple(_entry(one) for one in _given(value, "episodes", list)),
        members={
            name: Member(_fitting(one, "sha256", _is_digest), _count(one, "bytes")) for name, one in members.items()
        },
        blobs=_count(blobs, "count"),
        blob_bytes=_count(blobs, "bytes"),
        period=None if value.get("period") is None else _period(_given(value, "period", dict)),
    )


def _check_format(found: object) -> None:
    match = _FORMAT.fullmatch(found) if isinstance(found, str) else None
    if match is None:
        raise Damage(f"{NAME} says that its format is {found!r:.80}; {FORMAT!r} was expected.")
    if found != FORMAT:
        raise NewerSchema(
            f"the bundle is of format {found}, which this spectrace does not know: it reads {FORMAT}. Install a newer "
            f"spectrace, one that reads version {match[1]}."
        )


def _entry(value: object) -> Entry:
    ended_at = value.get("ended_at") if isinstance(value, dict) else None
    return Entry(
        episode=_fitting(value, "episode", is_episode_id),
        events=_count(value, "events", most=MAX_SEQ + 1),
        head=bytes.fromhex(_fitting(value, "head", _is_digest)),
        state=_fitting(value, "state", lambda state: state in _STATES),
        started_at=_count(value, "started_at"),
        ended_at=None if ended_at is None else _count(value, "ended_at"),
    )


def _period(value: Mapping[str, object]) -> Period:
    since, until = (None if value.get(name) is None else _count(value, name) for name in ("since", "until"))
    return Period(since, until)


def _is_digest(text: str) -> bool:
    return _HEX.fullmatch(text) is not None


def _given(value: object, name: str, kind: type[_T]) -> _T:
    found = value.get(name) if isinstance(value, dict) else None
    if type(found) is not kind:
        raise Damage(f"{NAME}: `{name}` is {found!r:.80}; {_KINDS[kind]} was expected.")
    return found


def _fitting(value: object, name: str, fits: Callable[[str], bool]) -> str:
    found = _given(value, name, str)
    if not fits(found):
        raise Damage(f"{NAME}: `{name}` cannot be {found!r:.80}.")
    return found


def _count(value: object, name: str, *, most: int = 2**53 - 1) -> int:
    found = _given(value, name, int)
    if not 0 <= found <= most:
        raise Damage(f"{NAME}: `{name}` cannot be {found}.")
    return found
