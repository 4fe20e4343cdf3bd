"""Secrets that are in a log all the same: let through by other rules, recorded without redaction, or copied here.

What is looked at are the stored bodies and headers of every event, each long text once, and the settings of runs;
projections and search texts hold nothing that is not there. A place is an event and a JSON pointer into it. Of a
secret nothing is told but what gave it away and how long it is.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from spectrace.audit.reading import Unread
from spectrace.errors import StoreError, UsageError
from spectrace.redaction.detector import Detector
from spectrace.redaction.rules import Rules
from spectrace.store import runs
from spectrace.store.blobs import REFERENCE
from spectrace.store.event_store import EventStore
from spectrace.store.sql import SqlEventStore

Progress = Callable[[int, int], None]

_REMEMBERED = 50_000


@dataclass(frozen=True, slots=True)
class FoundSecret:
    """A secret in a log: where it is, and what gave it away; never the secret."""

    episode: str
    """Of what is no event, the run or the file."""
    seq: int | None
    where: str
    """A JSON pointer into the event: /header/... or /body/...."""
    kind: str
    detail: str


class SecretScan:
    """Looks through events, and keeps what could not be looked at."""

    def __init__(self, rules: Rules) -> None:
        """Look for what these rules would redact."""
        self._detector = Detector(rules)
        self._blobs: dict[str, tuple[tuple[str, str], ...]] = {}
        self.unread: list[Unread] = []

    def episodes(
        self, store: EventStore, episodes: Sequence[str], progress: Progress | None = None
    ) -> Iterator[FoundSecret]:
        """Yield the secrets of episodes, in the order of events."""
        for done, episode in enumerate(episodes, 1):
            for event in store.stored(episode):
                yield from self._texts(store, episode, event.seq, "/header", event.header)
                if event.body is not None:
                    yield from self._texts(store, episode, event.seq, "/body", event.body)
            if progress is not None:
                progress(done, len(episodes))

    def runs(self, store: EventStore) -> Iterator[FoundSecret]:
        """Yield the secrets in the settings of runs, and in what their items say."""
        if not isinstance(store, SqlEventStore):
            return
        for run in runs.every(store):
            texts = [("/settings", run.settings), *(("/result", item.result) for item in runs.items(store, run.name))]
            for where, text in texts:
                for kind, detail in self._look(text or ""):
                    yield FoundSecret(run.name, None, where, kind, detail)

    def lines(self, path: Path) -> Iterator[FoundSecret]:
        """Yield the secrets of a file of JSON lines, or of any text file; the place is the line."""
        try:
            with path.open(encoding="utf-8", errors="surrogateescape") as file:
                for number, line in enumerate(file, 1):
                    for kind, detail in self._look(line):
                        yield FoundSecret(path.name, None, f"line {number}", kind, detail)
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from None

    def _texts(self, store: EventStore, episode: str, seq: int, top: str, data: bytes) -> Iterator[FoundSecret]:
        try:
            value: object = json.loads(data)
        except ValueError:
            told = f"event {seq} of {episode} is no JSON and was not looked at. `spectrace verify {episode}` says more."
            self.unread.append(Unread(episode, seq, told))
            return
        for where, name, text in _strings(value, top):
            is_long = name == REFERENCE
            found = self._blob(store, episode, seq, text) if is_long else self._named(name, text)
            place = where.removesuffix(f"/{REFERENCE}") if is_long else where
            for kind, detail in found:
                yield FoundSecret(episode, seq, place, kind, detail)

    def _blob(self, store: EventStore, episode: str, seq: int, digest: str) -> Iterable[tuple[str, str]]:
        known = self._blobs.get(digest)
        if known is None:
            try:
                data = store.blob(digest)
            except StoreError:
                data = None
            if data is None:
                told = f"a text of event {seq} of {episode} is missing. `spectrace verify {episode}` says more."
                self.unread.append(Unread(episode, seq, told))
                return ()
            known = tuple(self._look(data.decode("utf-8", "surrogateescape")))
            if len(self._blobs) < _REMEMBERED:
                self._blobs[digest] = known
        return known

    def _named(self, name: str, text: str) -> Iterator[tuple[str, str]]:
        """Look at a text, or at the pair that a label is: a list of two texts."""
        if name and '"' not in text and "\\" not in text and '"' not in name and "\\" not in name:
            yield from self._look(f'{{"{name}":"{text}"}}')
        else:
            yield from self._look(text)

    def _look(self, text: str) -> Iterator[tuple[str, str]]:
        for one in self._detector.find(text):
            length = one.end - one.start if one.value is None else len(one.value)
            yield one.kind, f"{one.why}, {length} characters"


def _strings(value: object, top: str) -> Iterator[tuple[str, str, str]]:
    """Yield every text of a parsed value with its JSON pointer and, of a pair of texts, the first as its name."""
    waiting: list[tuple[str, str, object]] = [(top, "", value)]
    while waiting:
        where, name, item = waiting.pop()
        match item:
            case str():
                yield where, name, item
            case dict():
                parts = [
                    (f"{where}/{_escaped(key)}", key if key == REFERENCE else "", one) for key, one in item.items()
                ]
                waiting.extend(reversed(parts))
            case [str() as first, str() as second]:
                waiting += [(f"{where}/1", first, second), (f"{where}/0", "", first)]
            case list():
                waiting.extend((f"{where}/{at}", "", item[at]) for at in range(len(item) - 1, -1, -1))
            case _:
                continue


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
