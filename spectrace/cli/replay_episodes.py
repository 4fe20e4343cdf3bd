"""Replaying and checking one episode of a log for `spectrace replay` and `demo`: what its record holds gives a result.

Of the environments only our own are opened by a recorded name; every other is named by the user.
"""

import os
from collections.abc import Mapping, Sequence

from spectrace.audit.queries import Reader
from spectrace.cli import replay_check
from spectrace.config import BUILTIN_ENVIRONMENTS, builtin_environment, open_environment, protocol, settings_here
from spectrace.core.events import EpisodeStarted, Event
from spectrace.core.prompts import Prompts
from spectrace.core.protocols import PROTOCOLS, recorded_protocol
from spectrace.errors import EpisodeNotFound, StoreError, Untestable, UsageError
from spectrace.redaction.opening import open_for
from spectrace.runs.live import EpisodeProtocol
from spectrace.runs.live_models import Asking, replay_with_models
from spectrace.runs.preflight import Checked, with_options
from spectrace.runs.reexecution import STRICT, Passing
from spectrace.runs.replay import ReplayResult, replay_episode


async def replayed(
    reader: Reader,
    episode: str,
    *,
    prompts: Prompts | None = None,
    options: Sequence[str] = (),
    live: bool = False,
    env: str | None = None,
    passing: Passing = STRICT,
    frozen: bool = False,
) -> ReplayResult:
    """Replay one episode from its record, or (`live`) on a fresh environment."""
    try:
        events, parent = _read(reader, episode)
        instead = _options(events[0].body, options)
    except EpisodeNotFound:
        raise
    except (StoreError, Untestable) as error:  # the record itself cannot be read
        return _cannot(reader, episode, str(error))
    started = events[0].body
    environment = None
    if live and isinstance(started, EpisodeStarted):
        environment = open_environment(env) if env is not None else builtin_environment(started.environment.name)
        if environment is None:
            return _cannot(reader, episode, _unnamed(started.environment.name))
    return await replay_episode(
        events,
        prompts=prompts,
        options=instead,
        environment=environment,
        passing=passing,
        frozen=frozen,
        parent=parent,
        redactor=None if environment is None else open_for(started, settings_here().redaction, os.environ),
    )


async def asked_live(reader: Reader, episode: str, asking: Asking, options: Sequence[str] = ()) -> ReplayResult:
    """Replay one episode with live models, whose actions the record answers."""
    try:
        events = reader.events(episode)
        instead = _options(events[0].body, options)
    except EpisodeNotFound:
        raise
    except (StoreError, Untestable) as error:
        return _cannot(reader, episode, str(error))
    return await replay_with_models(events, asking, instead)


async def checked(
    reader: Reader,
    episode: str,
    *,
    prompts: Prompts | None,
    options: Sequence[str],
    env: str | None,
    frozen: bool = False,
) -> replay_check.CheckedEpisode:
    """Look at one episode without running anything."""
    try:
        events, parent = _read(reader, episode)
        instead = _options(events[0].body, options)
    except EpisodeNotFound:
        raise
    except (StoreError, Untestable) as error:
        return replay_check.CheckedEpisode(episode, Checked("untestable", (), str(error)))
    found = await replay_check.look(events, env=env, prompts=prompts, options=instead, parent=parent, frozen=frozen)
    return replay_check.CheckedEpisode(episode, found)


def protocol_in(reader: Reader, episode: str, options: Sequence[str]) -> EpisodeProtocol | None:
    """Return an episode's protocol with the options that are given; None where nothing here can follow it."""
    try:
        started = reader.first(episode).body
        if not isinstance(started, EpisodeStarted):
            return None
        return recorded_protocol(with_options(started, _options(started, options)))
    except (StoreError, Untestable):  # its own replay says why
        return None


def _read(reader: Reader, episode: str) -> tuple[list[Event], list[Event] | None]:
    events = reader.events(episode)
    return events, _parent(reader, events[0].body)


def _options(started: object, options: Sequence[str]) -> Mapping[str, object]:
    """Return the options that are given, as the episode's protocol reads them."""
    if not options or not isinstance(started, EpisodeStarted):
        return {}
    if started.protocol not in PROTOCOLS:
        raise Untestable(f"its protocol {started.protocol!r} has no options here")
    try:
        read = protocol(started.protocol, options)
    except UsageError as error:
        raise Untestable(str(error)) from None
    return {key: getattr(read, key) for key in (text.partition("=")[0] for text in options)}


def _parent(reader: Reader, started: object) -> list[Event] | None:
    """Return the events of the episode that a child came from, if they are in this log."""
    if not isinstance(started, EpisodeStarted) or started.parent is None:
        return None
    try:
        return reader.events(started.parent.episode)
    except EpisodeNotFound:
        return None


def _unnamed(name: str) -> str:
    return (
        f"it was recorded on {name}, which is none of ours ({', '.join(BUILTIN_ENVIRONMENTS)}), and nothing that a "
        "recording names is imported: name the environment with --env MODULE:ATTRIBUTE"
    )


def _cannot(reader: Reader, episode: str, reason: str) -> ReplayResult:
    events = reader.store.row(episode).events
    return ReplayResult(episode, "untestable", 0, max(0, events - 1), 0, None, reason)
