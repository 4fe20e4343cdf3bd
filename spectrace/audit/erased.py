"""Which events may lack their body: those whose erasure is on record, each with its proof. Part of `integrity`.

A record counts as far as its administrative log is whole from its first event on: one that was only written into the
table proves nothing. Neither does a proof alone, nor a record alone. All of it is read when the first event without a
body is met, so a log of which nothing was erased pays nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from spectrace.audit.verifiable import Verifiable
from spectrace.core.admin_events import AdminErased, AdminOpened, is_admin
from spectrace.core.digest import first_link, link_over, next_link
from spectrace.errors import StoreError
from spectrace.store.erasures import ranges_in
from spectrace.store.event_store import Link

Parts = Mapping[str, Sequence[tuple[int, int]]]
"""Episode -> first and last event of what was erased of it."""


class NotOnRecord(Exception):
    """A body is missing, and nothing says that it may be."""


@dataclass(slots=True)
class Erased:
    """The erasures of one store, as its administrative logs tell them."""

    store: Verifiable
    parts: Parts | None = None
    episode: str | None = None
    proofs: Mapping[int, bytes] = field(default_factory=dict)
    """Of the episode that was asked for last."""
    heads: Mapping[str, int] = field(default_factory=dict)
    """How many records each administrative log had when they were read."""

    def outdated(self) -> bool:
        """Whether something was put on record since: an erasure may run while a log is verified."""
        return self.parts is not None and self.heads != _heads(self.store)

    def link(self, episode: str, link: bytes, event: Link) -> bytes:
        """Return the link of an event without body and salt; raise NotOnRecord with what is missing."""
        seq, type_, header, *_ = event
        if self.parts is None:
            self.heads = _heads(self.store)
            self.parts = _parts(self.store)
        if not any(first <= seq <= last for first, last in self.parts.get(episode, ())):
            raise NotOnRecord(f"the body of event {seq} ({type_}) is missing, and no erasure of it is on record")
        if self.episode != episode:
            self.episode, self.proofs = episode, self.store.proofs(episode)
        proof = self.proofs.get(seq)
        if type(proof) is not bytes:
            raise NotOnRecord(
                f"the body of event {seq} ({type_}) is missing: that it was erased is on record, and the proof of what "
                "it was is not there"
            )
        return link_over(link, header, proof)


def _heads(store: Verifiable) -> Mapping[str, int]:
    return {log: store.row(log).events for log in store.administrative()}


def _parts(store: Verifiable) -> Parts:
    found: dict[str, list[tuple[int, int]]] = {}
    for log in store.administrative():
        try:
            _read(store, log, found)
        except StoreError:  # what cannot be read is no record; verifying that log names it
            continue
    return found


def _read(store: Verifiable, log: str, found: dict[str, list[tuple[int, int]]]) -> None:
    """Add what a log says, up to its first event that is not as it was recorded."""
    link, expected = first_link(log), 0
    for batch in store.links(log):
        for seq, type_, header, body, salt, stored in batch:
            opens = seq == 0 and type_ == AdminOpened.TYPE and is_admin(log)
            if seq != expected or body is None or salt is None or not (seq or opens):
                return
            try:
                link = next_link(link, header, salt, body)
            except TypeError:  # SQLite holds what it is given, texts and numbers too
                return
            if link != stored:
                return
            if type_ == AdminErased.TYPE:
                for episode, first, last in ranges_in(body):
                    found.setdefault(episode, []).append((first, last))
            expected += 1
