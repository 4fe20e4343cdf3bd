"""`spectrace run`: run tasks live and record them."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import cast

import click

from spectrace.cli import console, document
from spectrace.cli.console import Column, status_span
from spectrace.cli.loop import run_loop
from spectrace.cli.option_help import ExplainsOptions
from spectrace.cli.options import db_option, json_option, label_of
from spectrace.cli.watch import EpisodeWatch, weights_progress
from spectrace.config import Models, database_url, open_environment, open_prompts, protocol, settings_here
from spectrace.core.types import Task
from spectrace.environments.environment import Environment
from spectrace.errors import UsageError
from spectrace.runs.batch import NotRecorded, record_all
from spectrace.runs.live import EpisodeProtocol, Labels, Recorded
from spectrace.settings import Settings, meant
from spectrace.store.sql import open_store

Ended = Recorded | NotRecorded

_LISTED_TASKS = 20

_LARGEST_SEED = 2**52
"""JSON readers round whole numbers beyond 2^53; half of that leaves room for the trials, which count on from it."""

_COLUMNS = (
    Column("episode"),
    Column("task"),
    Column("trial", right=True, rank=4),
    Column("status"),
    Column("reason", rank=2),
    Column("reward", right=True),
    Column("steps", right=True, rank=1),
    Column("weak calls", right=True, rank=3),
    Column("strong calls", right=True, rank=3),
    Column("rejected", right=True, rank=2),
)


def _seed(_ctx: click.Context, _param: click.Parameter, seed: int | None) -> int | None:
    """Refuse by name what the log could not hold exactly."""
    if seed is not None and abs(seed) > _LARGEST_SEED:
        raise click.BadParameter(f"{seed} is beyond {_LARGEST_SEED:,} (2^52): choose a smaller number.")
    return seed


@click.command(cls=ExplainsOptions)
@click.option(
    "--env", required=True, metavar="ENV", help="shop, tau2:airline, tau2:retail, tau2:mock or MODULE:ATTRIBUTE."
)
@click.option("--task", "tasks", multiple=True, metavar="TASK", help="A task's id, several with commas, or all.")
@click.option(
    "--protocol",
    "protocol_name",
    default="specagent",
    show_default=True,
    metavar="NAME",
    help="Who drafts and who reviews.",
)
@click.option(
    "-o", "--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of the protocol, e.g. k=6."
)
@click.option("--weak", metavar="MODEL", help="The drafter. [default: `weak` of spectrace.toml]")
@click.option("--strong", metavar="MODEL", help="The reviewer. [default: `strong` of spectrace.toml]")
@click.option("--user", metavar="MODEL", help="The simulated user, where the environment has one.")
@click.option("--prompts", metavar="FILE", help="Prompts to use in place of the shipped ones.")
@click.option("--name", metavar="NAME", help="Name the run, so that `--run NAME` finds its episodes.")
@click.option("--trials", type=click.IntRange(min=1), default=1, show_default=True, help="How often each task is run.")
@click.option("--concurrency", type=click.IntRange(min=1), default=1, show_default=True, help="Episodes at once.")
@click.option(
    "--seed", type=int, callback=_seed, help="Seed of environment and sampling; each trial counts on from it."
)
@click.option("--project", metavar="NAME", help="File the episodes under this project.")
@click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", help="A label for the episodes.")
@click.option("--operator", metavar="NAME", help="Who answers for the run.")
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    env: str,
    tasks: Sequence[str],
    protocol_name: str,
    options: Sequence[str],
    weak: str | None,
    strong: str | None,
    user: str | None,
    prompts: str | None,
    name: str | None,
    trials: int,
    concurrency: int,
    seed: int | None,
    project: str | None,
    labels: Sequence[str],
    operator: str | None,
    db: str | None,
    *,
    as_json: bool,
) -> None:
    """Run tasks live under a protocol and record every event of them."""
    settings = settings_here()
    chosen = protocol(protocol_name, options)
    first = open_environment(env)
    wanted = choose_tasks(env, first, tasks)
    filed = Labels(
        project=project or settings.project,
        labels=tuple(label_of(text) for text in labels),
        operator=operator,
        run=name,
        seed=seed,
    )
    named = _named_models(chosen, {"weak": weak, "strong": strong, "user": user}, settings)
    if "user" not in named and env.startswith("tau2:"):
        raise UsageError(f"{env} has a simulated user: name the model that plays it with --user MODEL.")
    given_prompts = open_prompts(prompts)
    with console.progress() as progress:
        watch = EpisodeWatch(progress, total=len(wanted) * trials)
        models = Models(settings, weights_progress(progress))
        clients = {role: models.open(spec) for role, spec in named.items()}
        store = open_store(database_url(db, settings))
        batch = record_all(
            wanted,
            lambda: open_environment(env),
            clients,
            chosen,
            store,
            trials=trials,
            concurrency=concurrency,
            labels=filed,
            prompts=given_prompts,
            watch=watch,
        )
        try:
            ended = run_loop(_collect(batch, watch, models))
        except KeyboardInterrupt:
            watch.interrupted()
            raise
        finally:
            store.close()
    _report(ended, watch, as_json=as_json)
    ctx.exit(1 if watch.ungraded or any(_failed(one) for one in ended) else 0)


async def _collect(batch: AsyncIterator[Ended], watch: EpisodeWatch, models: Models) -> list[Ended]:
    """Let the episodes run to their ends; close the models whatever happens."""
    ended: list[Ended] = []
    try:
        async with aclosing(
            cast("AsyncGenerator[Ended, None]", batch)
        ) as running:  # interrupted: episodes end before models
            async for one in running:
                ended.append(one)
                watch.ended(one)
    finally:
        await models.close()
    return ended


def choose_tasks(env: str, environment: Environment, names: Sequence[str]) -> list[Task]:
    """Return the tasks that were named, in the order named; `all` is every one."""
    tasks = {task.id: task for task in environment.tasks()}
    wanted = [part.strip() for name in names for part in name.split(",") if part.strip()]
    listing = _listing(list(tasks))
    if not wanted:
        raise UsageError(f"--task says what to run. {env} has {listing}, or all.")
    if "all" in wanted and "all" not in tasks:
        return list(tasks.values())
    for name in wanted:
        if name not in tasks:
            raise UsageError(f"{env} has no task {name!r}{meant(name, tasks)}; it has {listing}.")
    return [tasks[name] for name in dict.fromkeys(wanted)]


def _listing(names: Sequence[str]) -> str:
    if len(names) <= _LISTED_TASKS:
        return ", ".join(names) or "no tasks of its own"
    return f"{len(names)} tasks, {', '.join(names[:_LISTED_TASKS])} and so on to {names[-1]}"


def _named_models(chosen: EpisodeProtocol, given: dict[str, str | None], settings: Settings) -> dict[str, str]:
    """Return role -> model, for the roles that the protocol has and the user that was given."""
    named: dict[str, str] = {}
    for role in (*chosen.MODELS, "user"):
        spec = given[role] or (role if role in settings.models else None)
        if spec is not None:
            named[role] = spec
        elif role != "user":
            where = settings.path or Path("spectrace.toml")
            raise UsageError(
                f"{chosen.NAME} needs a {role} model: --{role} MODEL, or [models.{role}] in {where}. "
                "A model is, for example, local:weak, sglang:NAME@http://127.0.0.1:30000 or scripted:FILE."
            )
    return named


def _failed(one: Ended) -> bool:
    return isinstance(one, NotRecorded) or one.outcome.status == "failed"


def _report(ended: Sequence[Ended], watch: EpisodeWatch, *, as_json: bool) -> None:
    if as_json:
        document.write("run", [item(one, watch.error(one)) for one in ended])
    else:
        show(ended)
    for reason in dict.fromkeys(str(one.error) for one in ended if isinstance(one, NotRecorded)):
        console.say(f"Not recorded: {reason}", style="error")


def show(ended: Sequence[Ended]) -> None:
    """Write how the episodes ended as a table."""
    console.table(_COLUMNS, [_row(one) for one in ended], "Nothing was run.")


def item(one: Ended, error: str | None = None) -> dict[str, object]:
    """Return the JSON item of an episode; `error` is why it failed, or was not graded."""
    if isinstance(one, NotRecorded):
        status: dict[str, object] = {"status": "not_recorded", "end_reason": str(one.error), "reward": None}
        return {
            "episode": None,
            "task": one.task,
            "trial": one.trial,
            **status,
            "steps": 0,
            "strong_calls": 0,
            "weak_calls": 0,
            "error": error,
        }
    return {
        "episode": one.episode,
        "task": one.task,
        "trial": one.trial,
        "status": one.outcome.status,
        "end_reason": one.outcome.reason,
        "reward": one.outcome.reward,
        "steps": one.totals.steps,
        "strong_calls": one.totals.strong_calls,
        "weak_calls": one.totals.weak_calls,
        "rejections": one.totals.rejections,
        "writes": one.totals.writes,
        "error": error,
    }


def _row(one: Ended) -> list[console.Cell]:
    if isinstance(one, NotRecorded):
        return [None, one.task, one.trial, ("not recorded", "bad"), None, None, None, None, None, None]
    totals = one.totals
    return [
        (one.episode, "name"),
        one.task,
        one.trial,
        status_span(one.outcome.status),
        one.outcome.reason,
        one.outcome.reward,
        totals.steps,
        totals.weak_calls,
        totals.strong_calls,
        (str(totals.rejections), "bad") if totals.rejections else totals.rejections,
    ]
