"""`spectrace replay`: run recorded episodes again, from the record or on a fresh environment, and compare.

With `--check` nothing is run: `replay_check` says what has changed since.
"""

from collections.abc import Mapping, Sequence

import click

from spectrace.audit.answers import Filters
from spectrace.audit.queries import Reader
from spectrace.cli import console, document, replay_check, replay_report
from spectrace.cli.loop import run_loop
from spectrace.cli.options import db_option, filter_options, json_option, reading
from spectrace.cli.select import chosen, episodes_argument
from spectrace.config import BUILTIN_ENVIRONMENTS, builtin_environment, open_environment, open_prompts, protocol
from spectrace.core.events import EpisodeStarted, Event
from spectrace.core.options import types_of
from spectrace.core.prompts import Prompts
from spectrace.errors import EpisodeNotFound, StoreError, Untestable, UsageError
from spectrace.runs.preflight import Checked
from spectrace.runs.protocols import PROTOCOLS
from spectrace.runs.replay import ReplayResult, replay_episode
from spectrace.settings import meant

_UNTESTABLE = 125
RECORDED, LIVE = "recorded", "live"


@click.command()
@episodes_argument
@click.option(
    "--tools",
    type=click.Choice([RECORDED, LIVE]),
    default=RECORDED,
    show_default=True,
    help="Who answers the actions: the record, or a fresh environment that executes every one again.",
)
@click.option(
    "--env",
    metavar="ENV",
    help="The environment for --tools live and --check. [default: ours of the recorded name; never a recorded module]",
)
@click.option(
    "--prompts",
    default=RECORDED,
    show_default=True,
    metavar="recorded|current|FILE",
    help="The prompts to render the questions with.",
)
@click.option(
    "-o",
    "--option",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    help="An option of the protocol, e.g. k=2, in place of the recorded one.",
)
@click.option("--check", is_flag=True, help="Run nothing: say what has changed since the recording.")
@filter_options(without=("env",))
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    episodes: Sequence[str],
    tools: str,
    env: str | None,
    prompts: str,
    options: Sequence[str],
    db: str | None,
    *,
    check: bool,
    filters: Filters,
    every: bool,
    as_json: bool,
) -> None:
    """Replay episodes and say whether they come out the same, or where they diverge."""
    if check and tools == LIVE:
        raise UsageError("--check runs nothing, and --tools live runs every action: give one of them.")
    if env is not None and tools != LIVE and not check:
        raise UsageError("--env is for --tools live and --check: a replay from the record reaches no environment.")
    rendered = open_prompts(prompts)
    _require_known(options)
    with reading(db) as reader, console.progress() as progress:
        names = chosen(reader, episodes, every, filters)

        async def go() -> list[ReplayResult]:
            results = []
            for number, name in enumerate(names, 1):
                progress.show("replay", f"{number} of {len(names)}  ", (name, "name"))
                results.append(
                    await replayed(reader, name, prompts=rendered, options=options, live=tools == LIVE, env=env)
                )
            return results

        async def look() -> list[replay_check.CheckedEpisode]:
            return [await checked(reader, name, prompts=rendered, options=options, env=env) for name in names]

        if check:
            looked = run_loop(look())
            found = {one.checked.result for one in looked}
        else:
            results = run_loop(go())
            found = {one.result for one in results}
    if as_json:
        document.write("replay", map(replay_check.item, looked) if check else map(replay_report.item, results))
    elif check:
        replay_check.show(looked)
    else:
        replay_report.show(results)
    ctx.exit(1 if "diverged" in found else _UNTESTABLE if "untestable" in found else 0)


async def replayed(
    reader: Reader,
    episode: str,
    *,
    prompts: Prompts | None = None,
    options: Sequence[str] = (),
    live: bool = False,
    env: str | None = None,
) -> ReplayResult:
    """Replay one episode; what its record holds gives a result, never an exception."""
    try:
        events, parent = _read(reader, episode)
    except EpisodeNotFound:
        raise
    except StoreError as error:  # the record itself cannot be read
        return _cannot(episode, reader.store.row(episode).events, str(error))
    started = events[0].body
    environment = None
    if live and isinstance(started, EpisodeStarted):
        environment = open_environment(env) if env is not None else builtin_environment(started.environment.name)
        if environment is None:
            return _cannot(episode, len(events), _unnamed(started.environment.name))
    try:
        instead = _options(started, options)
    except Untestable as error:
        return _cannot(episode, len(events), str(error))
    return await replay_episode(events, prompts=prompts, options=instead, environment=environment, parent=parent)


async def checked(
    reader: Reader, episode: str, *, prompts: Prompts | None, options: Sequence[str], env: str | None
) -> replay_check.CheckedEpisode:
    """Look at one episode without running anything; what its record holds gives a result, never an exception."""
    try:
        events, parent = _read(reader, episode)
        instead = _options(events[0].body, options)
    except EpisodeNotFound:
        raise
    except (StoreError, Untestable) as error:
        return replay_check.CheckedEpisode(episode, Checked("untestable", (), str(error)))
    found = await replay_check.look(events, env=env, prompts=prompts, options=instead, parent=parent)
    return replay_check.CheckedEpisode(episode, found)


def _read(reader: Reader, episode: str) -> tuple[list[Event], list[Event] | None]:
    events = reader.events(episode)
    return events, _parent(reader, events[0].body)


def _require_known(options: Sequence[str]) -> None:
    """Raise UsageError for an option that no protocol has."""
    known = sorted({name for one in PROTOCOLS.values() for name in types_of(one)})
    for text in options:
        key, equals, _ = text.partition("=")
        if not equals or key not in known:
            raise UsageError(f"-o takes KEY=VALUE with an option's name, found {text!r}{meant(key, known)}.")


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


def _cannot(episode: str, events: int, reason: str) -> ReplayResult:
    return ReplayResult(episode, "untestable", 0, max(0, events - 1), 0, None, reason)
