"""`spectrace replay`: run recorded episodes again, from the record or on a fresh environment, and compare."""

from collections.abc import Sequence

import click

from spectrace.audit.answers import Filters
from spectrace.audit.queries import Reader
from spectrace.cli import console, document
from spectrace.cli.console import Column, status_span
from spectrace.cli.loop import run_loop
from spectrace.cli.options import db_option, filter_options, json_option, reading
from spectrace.cli.select import chosen, episodes_argument
from spectrace.config import BUILTIN_ENVIRONMENTS, builtin_environment, open_environment, open_prompts
from spectrace.core.events import EpisodeStarted, Event
from spectrace.core.prompts import Prompts
from spectrace.errors import EpisodeNotFound, StoreError, UsageError
from spectrace.runs.replay import ReplayResult, replay_episode

_UNTESTABLE = 125
RECORDED, LIVE = "recorded", "live"

_COLUMNS = (
    Column("episode"),
    Column("result"),
    Column("compared", right=True, rank=1),
    Column("at", right=True, rank=2),
    Column("detail", flex=36),
)


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
    help="The environment for --tools live. [default: ours of the recorded name; never a recorded module]",
)
@click.option(
    "--prompts",
    default=RECORDED,
    show_default=True,
    metavar="recorded|current|FILE",
    help="The prompts to render the questions with.",
)
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
    db: str | None,
    *,
    filters: Filters,
    every: bool,
    as_json: bool,
) -> None:
    """Replay episodes and say whether they come out the same, or where they diverge."""
    if env is not None and tools != LIVE:
        raise UsageError("--env is for --tools live: a replay from the record reaches no environment.")
    rendered = open_prompts(prompts)
    with reading(db) as reader, console.progress() as progress:
        names = chosen(reader, episodes, every, filters)

        async def go() -> list[ReplayResult]:
            results = []
            for number, name in enumerate(names, 1):
                progress.show("replay", f"{number} of {len(names)}  ", (name, "name"))
                results.append(await replayed(reader, name, prompts=rendered, live=tools == LIVE, env=env))
            return results

        results = run_loop(go())
    if as_json:
        document.write("replay", [item(one) for one in results])
    else:
        show(results)
    found = {one.result for one in results}
    ctx.exit(1 if "diverged" in found else _UNTESTABLE if "untestable" in found else 0)


async def replayed(
    reader: Reader, episode: str, *, prompts: Prompts | None = None, live: bool = False, env: str | None = None
) -> ReplayResult:
    """Replay one episode; what its record holds gives a result, never an exception."""
    try:
        events = reader.events(episode)
        started = events[0].body
        parent = _parent(reader, started)
    except EpisodeNotFound:
        raise
    except StoreError as error:  # the record itself cannot be read
        return _cannot(episode, reader.store.row(episode).events, str(error))
    environment = None
    if live and isinstance(started, EpisodeStarted):
        environment = open_environment(env) if env is not None else builtin_environment(started.environment.name)
        if environment is None:
            return _cannot(episode, len(events), _unnamed(started.environment.name))
    return await replay_episode(events, prompts=prompts, environment=environment, parent=parent)


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


def show(results: Sequence[ReplayResult]) -> None:
    """Write the results as a table, and of each divergence both sides."""
    rows: list[list[console.Cell]] = [
        [
            (one.episode, "name"),
            status_span(one.result),
            f"{one.compared} of {one.total}",
            one.first_difference.seq if one.first_difference else None,
            one.detail,
        ]
        for one in results
    ]
    console.table(_COLUMNS, rows, "No episode passes.")
    for one in results:
        first = one.first_difference
        if first is not None and first.field:
            console.line()
            console.line((f"{one.episode}:{first.seq}", "name"), "  ", (first.field, "strong"))
            console.line(("recorded  ", "dim"), (first.recorded, "good"), indent=2)
            console.line(("now       ", "dim"), (first.found, "bad"), indent=2)


def item(one: ReplayResult) -> dict[str, object]:
    """Return the JSON item of a result."""
    first = one.first_difference
    return {
        "episode": one.episode,
        "result": one.result,
        "compared": one.compared,
        "total": one.total,
        "observations": one.observations,
        "first_difference": None
        if first is None
        else {"seq": first.seq, "field": first.field, "recorded": first.recorded, "found": first.found},
        "detail": one.detail,
    }
