"""Stores with one fault each, as real ones have had: the conformance checks must find every one."""

import json
from dataclasses import fields, is_dataclass, replace
from enum import Enum

from spectrace.core.events import ActCompleted, GenerateRequested
from spectrace.core.types import Observation
from spectrace.errors import StoreError
from spectrace.store.event_store import EpisodeWriter
from spectrace.store.memory import MemoryEventStore


def mapped(value: object, change) -> object:
    """Return a value of the vocabulary with every text changed."""
    match value:
        case str() if not isinstance(value, Enum):
            return change(value)
        case tuple():
            return tuple(mapped(item, change) for item in value)
        case _ if is_dataclass(value):
            return replace(value, **{item.name: mapped(getattr(value, item.name), change) for item in fields(value)})
        case _:
            return value


class Wrapped:
    """A writer that hands on what `change` makes of a batch."""

    def __init__(self, writer: EpisodeWriter, change) -> None:
        self.writer, self.change = writer, change

    def append(self, events, *, durable):
        self.writer.append(self.change(list(events)), durable=durable)

    def renew(self):
        self.writer.renew()

    def close(self):
        self.writer.close()


class Rewriting(MemoryEventStore):
    """Changes texts on their way in."""

    @staticmethod
    def text(text: str) -> str:
        return text

    def create(self, episode, started, at):
        return self._wrapped(super().create(episode, mapped(started, self.text), at))

    def reopen(self, episode):
        return self._wrapped(super().reopen(episode))

    def _wrapped(self, writer):
        return Wrapped(writer, lambda batch: [replace(item, body=mapped(item.body, self.text)) for item in batch])


def parsed(text: str, **hooks: object) -> str:
    """Return a JSON text as a careless program writes it again."""
    try:
        return json.dumps(json.loads(text, **hooks))
    except (ValueError, RecursionError, OverflowError):
        return text


class DropsNul(Rewriting):
    text = staticmethod(lambda text: text.replace("\0", ""))


class UnescapesNul(Rewriting):
    text = staticmethod(lambda text: text.replace("\\u0000", "\0"))


class ReplacesHalves(Rewriting):
    text = staticmethod(lambda text: text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))


class JoinsHalves(Rewriting):
    text = staticmethod(lambda text: text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass"))


class Rounds(Rewriting):
    text = staticmethod(lambda text: parsed(text, parse_int=float))


class NanToNull(Rewriting):
    text = staticmethod(lambda text: text.replace("NaN", "null"))


class SortsKeys(Rewriting):
    text = staticmethod(lambda text: parsed(text) if text.startswith("{") and "$" not in text else text)


class Flattens(Rewriting):
    text = staticmethod(lambda text: "..." if text.count("[") > 1000 else text)


class Escapes(Rewriting):
    text = staticmethod(lambda text: text.replace("<", "&lt;"))


class RenamesIds(Rewriting):
    text = staticmethod(lambda text: "call_2" if text == "call_1" else text)


class TidiesVerdicts(Rewriting):
    text = staticmethod(
        lambda text: '{"verdict": "reject"}' if text.startswith('{"verdict": "reject", "first') else text
    )


class Normalises(Rewriting):
    """Takes 1, 1.0 and true for one."""

    text = staticmethod(lambda text: '{"n": 1}' if text in {'{"n": 1.0}', '{"n": true}'} else text)


class PrintsBytes(Rewriting):
    """Shows what is no UTF-8 as U+FFFD and keeps that."""

    text = staticmethod(
        lambda text: (
            text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            if any("\udc80" <= c <= "\udcff" for c in text)
            else text
        )
    )


class LosesTheLast(MemoryEventStore):
    def read(self, episode, start=0):
        return iter(list(super().read(episode, start))[:-1])


class Reorders(MemoryEventStore):
    """Orders events by their time."""

    def read(self, episode, start=0):
        return iter(sorted(super().read(episode, start), key=lambda event: event.at))


class IgnoresStart(MemoryEventStore):
    def read(self, episode, start=0):
        return super().read(episode, 0)


class RoundsTimes(MemoryEventStore):
    def read(self, episode, start=0):
        return (replace(event, at=event.at // 1_000_000 * 1_000_000) for event in super().read(episode, start))


class Relinked(MemoryEventStore):
    def stored(self, episode, start=0):
        return (replace(event, link=b"x" * 32) for event in super().stored(episode, start))


class OneSalt(MemoryEventStore):
    def __init__(self) -> None:
        super().__init__(salts=lambda: b"0" * 16)


class ForgetsItsLength(MemoryEventStore):
    """Does not know how many events it should have: a cut end does not show."""

    def row(self, episode):
        return replace(super().row(episode), events=0)


class AlwaysRunning(MemoryEventStore):
    def row(self, episode):
        return replace(super().row(episode), state="running")


class ManyWriters(MemoryEventStore):
    """Lets anybody write an episode that somebody writes."""

    def reopen(self, episode):
        self._logs[episode].held = False
        return super().reopen(episode)


class Overwrites(MemoryEventStore):
    """Begins an episode anew under an id that was used."""

    def create(self, episode, started, at):
        self._logs.pop(episode, None)
        return super().create(episode, started, at)


class HalfAppends(MemoryEventStore):
    """Keeps of a refused batch what came before the refusal."""

    def create(self, episode, started, at):
        writer = super().create(episode, started, at)

        def singly(batch):
            for item in batch[:-1]:
                writer.append([item], durable=False)
            return batch[-1:]

        return Wrapped(writer, singly)


class Guesses(MemoryEventStore):
    """Takes the first of several episodes."""

    def resolve(self, prefix):
        found = sorted(episode for episode in self._logs if episode.startswith(prefix))
        if not found:
            raise StoreError("none")
        return found[0]


class NoBlobs(MemoryEventStore):
    def blob(self, digest):
        return None


class WritesInFull(MemoryEventStore):
    """Lays every text, and every prompt, whole into its event."""

    def stored(self, episode, start=0):
        for event, stored in zip(super().read(episode, start), super().stored(episode, start), strict=True):
            match event.body:
                case ActCompleted(observation=Observation(content=content)):
                    yield replace(stored, body=content.encode("utf-8", "surrogatepass"))
                case GenerateRequested(messages=messages):
                    yield replace(stored, body=repr(messages).encode("utf-8", "surrogatepass"))
                case _:
                    yield stored


class LosesUnderLoad(MemoryEventStore):
    """Loses the end of an episode that was written while another was."""

    def __init__(self) -> None:
        super().__init__()
        self.crowded = set()

    def create(self, episode, started, at):
        writer = super().create(episode, started, at)

        def noted(batch):
            if sum(log.held for log in list(self._logs.values())) > 1:
                self.crowded.add(episode)
            return batch

        return Wrapped(writer, noted)

    def stored(self, episode, start=0):
        found = list(super().stored(episode, start))
        return iter(found[:-1] if episode in self.crowded else found)


class AnswersWrites(MemoryEventStore):
    """Believes that an episode is over when its writer is gone."""

    def row(self, episode):
        row = super().row(episode)
        return replace(row, state="ended") if row.state == "interrupted" else row


class Crashes(MemoryEventStore):
    def create(self, episode, started, at):
        raise UnicodeEncodeError("utf-8", "a secret", 0, 1, "surrogates not allowed")


BROKEN = (
    (DropsNul, "a nul is kept and is not its escape"),
    (UnescapesNul, "a nul is kept and is not its escape"),
    (ReplacesHalves, "half a surrogate pair is kept wherever it stands"),
    (JoinsHalves, "half a surrogate pair is kept wherever it stands"),
    (Rounds, "numbers keep every digit and their spelling"),
    (NanToNull, "nan and infinities are kept as they were written"),
    (SortsKeys, "key order white space and doubled keys of foreign json are kept"),
    (Flattens, "deep nesting and five thousand digits are kept"),
    (Escapes, "text that attacks whoever shows it is kept to the letter"),
    (RenamesIds, "ids of providers are kept empty or used twice"),
    (TidiesVerdicts, "an unusable verdict keeps its raw text and its own class"),
    (Normalises, "calls with one as integer as float and as true are three calls"),
    (PrintsBytes, "bytes that are no text are kept as those bytes"),
    (LosesTheLast, "every event type reads back equal"),
    (Reorders, "a clock that goes back changes no order"),
    (IgnoresStart, "reading from the middle gives the same events"),
    (RoundsTimes, "position time and lane read back equal"),
    (Relinked, "the chain verifies from stored bytes"),
    (OneSalt, "salts are never used twice"),
    (ForgetsItsLength, "every edit of stored bytes shows at its event"),
    (AlwaysRunning, "an episode row says where it stands"),
    (ManyWriters, "a reopened episode goes on where it stopped"),
    (Overwrites, "an episode id is used once"),
    (HalfAppends, "an append is whole or nothing"),
    (Guesses, "a prefix names one episode or none"),
    (NoBlobs, "blobs are named by their digest"),
    (WritesInFull, "a large text is stored once however often it is said"),
    (WritesInFull, "a log grows linearly with its calls"),
    (LosesUnderLoad, "writers at the same time lose nothing and leave no gap"),
    (AnswersWrites, "a vanished writer leaves a whole prefix and an unanswered write"),
    (DropsNul, "any text reads back exactly"),
)


def broken(checks):
    """Return (store, check) for each of these checks and each store that it must find out."""
    return [(kind, check) for check in checks for kind, claim in BROKEN if claim == check.claim]
