"""`assert_replays`: every episode of a recording, a bundle or a database replays the same."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from spectrace.audit.queries import Reader, open_reader
from spectrace.core.events import EpisodeStarted, Event
from spectrace.core.prompts import Prompts
from spectrace.errors import EpisodeNotFound, StoreError
from spectrace.runs.replay import ReplayResult, replay_episode
from spectrace.testing.loop import in_a_loop
from spectrace.testing.telling import divergences


def assert_replays(
    recording: str | Path,
    *episodes: str,
    prompts: Prompts | None = None,
    options: Mapping[str, object] | None = None,
    untestable: bool = False,
) -> tuple[ReplayResult, ...]:
    """Insist that recorded episodes replay the same; raise AssertionError with where each left its record.

    `recording` is a bundle, a database file or a database's URL; it is read and never altered. `episodes` are ids or
    beginnings of them; without any, all are replayed. `prompts` and `options` take the place of the recorded ones.
    An episode that cannot be replayed here (imported, or of rules that this version does not carry) fails too, unless
    `untestable` lets it pass. Raises StoreError for what cannot be read. No environment and no model is reached.
    """
    with open_reader(str(recording)) as reader:
        names = [reader.resolve(one) for one in episodes] or [one.episode for one in reader.iter_episodes()]
        if not names:
            raise AssertionError(f"{recording} holds no episode: there is nothing to replay.")
        results = [in_a_loop(_replayed(reader, name, prompts, options)) for name in names]
    passing = {"same", "untestable"} if untestable else {"same"}
    failed = [one for one in results if one.result not in passing]
    if failed:
        raise AssertionError(f"{recording}: {divergences(failed, len(results))}")
    return tuple(results)


async def _replayed(
    reader: Reader, episode: str, prompts: Prompts | None, options: Mapping[str, object] | None
) -> ReplayResult:
    try:
        events = reader.events(episode)
        parent = parent_of(reader, events)
    except EpisodeNotFound:
        raise
    except StoreError as error:  # this one is damaged; the others are told too
        return ReplayResult(episode, "untestable", 0, max(0, reader.store.row(episode).events - 1), 0, None, str(error))
    return await replay_episode(events, prompts=prompts, options=options, parent=parent)


def parent_of(reader: Reader, events: Sequence[Event]) -> list[Event] | None:
    """Return the events of the episode that a child came from, if they are there."""
    started = events[0].body
    if not isinstance(started, EpisodeStarted) or started.parent is None:
        return None
    try:
        return reader.events(started.parent.episode)
    except EpisodeNotFound:
        return None
