"""`spectrace replay`: run recorded episodes again, from the record, on a fresh environment or with live models.

With `--check` nothing is run: `replay_check` says what has changed since. What goes with what: `replay_choices`.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import click

from spectrace.audit.answers import Filters
from spectrace.audit.queries import Reader
from spectrace.cli import console, document, replay_check, replay_report
from spectrace.cli.console import Progress
from spectrace.cli.loop import run_loop
from spectrace.cli.options import db_option, dollars, filter_options, json_option, reading, whole
from spectrace.cli.replay_choices import CACHED, LIVE, RECORDED, Given, Mode, mode_of
from spectrace.cli.replay_episodes import checked, replayed
from spectrace.cli.replay_models import live_models
from spectrace.cli.select import chosen, episodes_argument
from spectrace.config import open_prompts
from spectrace.core.prompts import Prompts
from spectrace.runs.replay import ReplayResult
from spectrace.runs.together import together

__all__ = ["command", "replayed"]

_UNTESTABLE = 125
_BAR = 25


@click.command()
@episodes_argument
@click.option(
    "--tools",
    type=click.Choice([RECORDED, CACHED, LIVE]),
    help="Who answers the actions: the record; the record, whatever live models ask (cached); or a fresh environment "
    "that executes every one again. [default: recorded]",
)
@click.option(
    "--models",
    type=click.Choice([RECORDED, LIVE]),
    default=RECORDED,
    show_default=True,
    help="Who answers the models' questions; live ones act on recorded answers only.",
)
@click.option(
    "--env",
    metavar="ENV",
    help="The environment for --tools live and --check. [default: ours of the recorded name; never a recorded module]",
)
@click.option(
    "--accept",
    metavar="CLASS,...",
    help="With --tools live, let observations differ so far: json-equal, cosmetic, id-renamed, volatile.",
)
@click.option(
    "--volatile",
    multiple=True,
    metavar="TOOL:POINTER",
    help="With --tools live, let this place of a tool's answer differ; a JSON pointer, * is any member.",
)
@click.option(
    "--lenient", is_flag=True, help="Accept every class; with --models live, calls that are written otherwise."
)
@click.option("--frozen", is_flag=True, help="Take the recorded tools as they were, though they have changed since.")
@click.option("--weak", metavar="MODEL", help="The drafter of --models live. [default: `weak` of spectrace.toml]")
@click.option("--strong", metavar="MODEL", help="The reviewer of --models live. [default: `strong` of spectrace.toml]")
@click.option("--concurrency", type=whole(1), help="Episodes of --models live at once.  [default: 1]")
@click.option(
    "--max-cost-usd",
    callback=dollars,
    metavar="USD",
    help="Ask live models nothing more once they have cost so much, by their prices.",
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
    /,
    episodes: Sequence[str],
    prompts: str,
    db: str | None,
    *,
    filters: Filters,
    every: bool,
    as_json: bool,
    **typed: Any,
) -> None:
    """Replay episodes and say whether they come out the same, or where they diverge."""
    given = Given(**typed)
    mode, rendered = mode_of(given), open_prompts(prompts)
    looked: list[replay_check.CheckedEpisode] = []
    results: list[ReplayResult] = []
    with reading(db) as reader, console.progress() as progress:
        names = chosen(reader, episodes, every, filters)
        try:
            if given.check:
                looked = run_loop(_looked(reader, names, given, rendered))
            elif mode.models:
                run_loop(_asked(reader, names, given, rendered, progress, results))
            else:
                run_loop(_replayed(reader, names, given, mode, rendered, progress, results))
        except KeyboardInterrupt:  # what live models have said may have cost something
            if results and not as_json:
                replay_report.show(results, observed=mode.tools)
                console.say(f"Interrupted: {len(results)} of {len(names)} episodes were replayed.", style="warning")
            raise
    if as_json:
        document.write("replay", [*map(replay_check.item, looked), *map(replay_report.item, results)])
    elif given.check:
        replay_check.show(looked)
    else:
        replay_report.show(results, observed=mode.tools)
    found = {one.checked.result for one in looked} | {one.result for one in results}
    ctx.exit(1 if "diverged" in found else _UNTESTABLE if "untestable" in found else 0)


async def _looked(
    reader: Reader, names: Sequence[str], given: Given, prompts: Prompts | None
) -> list[replay_check.CheckedEpisode]:
    return [
        await checked(reader, name, prompts=prompts, options=given.options, env=given.env, frozen=given.frozen)
        for name in names
    ]


async def _replayed(
    reader: Reader,
    names: Sequence[str],
    given: Given,
    mode: Mode,
    prompts: Prompts | None,
    progress: Progress,
    results: list[ReplayResult],
) -> None:
    def one(name: str) -> Awaitable[ReplayResult]:
        return replayed(
            reader,
            name,
            prompts=prompts,
            options=given.options,
            live=mode.tools,
            env=given.env,
            passing=mode.passing,
            frozen=given.frozen,
        )

    await _each(names, one, progress, results)


async def _asked(
    reader: Reader,
    names: Sequence[str],
    given: Given,
    prompts: Prompts | None,
    progress: Progress,
    results: list[ReplayResult],
) -> None:
    async with live_models(reader, names, given, prompts, progress) as ask:
        await _each(names, ask, progress, results, given.concurrency or 1)


async def _each(
    names: Sequence[str],
    replay: Callable[[str], Awaitable[ReplayResult]],
    progress: Progress,
    results: list[ReplayResult],
    at_once: int = 1,
) -> None:
    """Add the result of every episode, and show how far it is; the order is theirs however they came to their ends."""
    count: Counter[str] = Counter()
    waiting = iter(names)

    async def work() -> None:
        for name in waiting:
            done = _BAR * len(results) // len(names)
            others = "".join(f", {count[one]} {one}" for one in ("diverged", "untestable") if count[one])
            bar = f"{'█' * done}{'░' * (_BAR - done)}  {len(results)} of {len(names)}{others}  "
            progress.show("replay", bar if len(names) > 1 else "", (name, "name"))
            results.append(await replay(name))
            count[results[-1].result] += 1

    try:
        await together(work() for _ in range(min(at_once, len(names))))
    finally:
        place = {name: number for number, name in enumerate(names)}
        results.sort(key=lambda result: place[result.episode])
