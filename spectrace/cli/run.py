"""`spectrace run`: run tasks live and record them."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import cast

import click

from spectrace.audit.answers import EpisodeSummary
from spectrace.audit.lines import counted
from spectrace.cli import console, document, going_on, run_report
from spectrace.cli.going_on import Before
from spectrace.cli.loop import run_loop
from spectrace.cli.option_help import ExplainsOptions
from spectrace.cli.options import Seconds, db_option, dollars, json_option, label_of, whole
from spectrace.cli.run_choices import choose_protocols, choose_tasks, lacking, named_models, require_scoring, unasked
from spectrace.cli.run_report import Told
from spectrace.cli.watch import EpisodeWatch, weights_progress
from spectrace.config import Models, database_url, open_environment, open_prompts, settings_here
from spectrace.core.endings import COST_UNKNOWN, TOKENS_UNKNOWN, cut_by_run
from spectrace.errors import UsageError
from spectrace.redaction.filing import require_plain
from spectrace.runs.batch import Batch, Ended, NotRecorded, cells
from spectrace.runs.live import Labels, Recorded
from spectrace.runs.purse import Purse
from spectrace.runs.sources import Limits
from spectrace.store.asked import Grid
from spectrace.store.redaction_key import redactor_for
from spectrace.store.sql import open_store

_LARGEST_SEED = 2**52
"""JSON readers round whole numbers beyond 2^53; half of that leaves room for the trials, which count on from it."""


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
    "protocol_names",
    multiple=True,
    default=("specagent",),
    metavar="NAME",
    help="Who drafts and who reviews; several with commas, or all. [default: specagent]",
)
@click.option(
    "-o",
    "--option",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    help="An option, e.g. k=6, of the protocols that have it.",
)
@click.option("--weak", metavar="MODEL", help="The drafter. [default: `weak` of spectrace.toml]")
@click.option("--strong", metavar="MODEL", help="The reviewer. [default: `strong` of spectrace.toml]")
@click.option("--user", metavar="MODEL", help="The simulated user, where the environment has one.")
@click.option("--prompts", metavar="FILE", help="Prompts to use in place of the shipped ones.")
@click.option(
    "--name",
    metavar="NAME",
    help="Name the run, so that `--run NAME` finds its episodes; the same name goes on where it stopped.",
)
@click.option("--trials", type=whole(1), default=1, show_default=True, help="How often each task is run.")
@click.option("--concurrency", type=whole(1), default=1, show_default=True, help="Episodes at once.")
@click.option(
    "--seed", type=int, callback=_seed, help="Seed of environment and sampling; each trial counts on from it."
)
@click.option(
    "--max-cost-usd",
    callback=dollars,
    metavar="USD",
    help="Stop the run once it has cost so much, by the models' prices.",
)
@click.option("--max-wall-s", type=Seconds(), metavar="SECONDS", help="Stop the run after so long.")
@click.option(
    "--act-timeout-s",
    type=Seconds(min_open=True),
    default=300.0,
    show_default=True,
    metavar="SECONDS",
    help="Give up an action, a reset or a grading after so long; a tool's own limit goes before it.",
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
    protocol_names: Sequence[str],
    options: Sequence[str],
    weak: str | None,
    strong: str | None,
    user: str | None,
    prompts: str | None,
    name: str | None,
    trials: int,
    concurrency: int,
    seed: int | None,
    max_cost_usd: str | None,
    max_wall_s: float | None,
    act_timeout_s: float,
    project: str | None,
    labels: Sequence[str],
    operator: str | None,
    db: str | None,
    *,
    as_json: bool,
) -> None:
    """Run tasks live under one protocol or several and record every event of them."""
    settings = settings_here()
    protocols = choose_protocols(protocol_names, options)
    chosen = choose_tasks(env, open_environment(env), tasks)
    require_plain(
        settings.redaction,
        {"the project": project or settings.project, "the run": name}
        | {f"the id of task {number}": task.id for number, task in enumerate(chosen, 1)},
    )
    wanted = cells(chosen, protocols, trials)
    asked = Grid(tuple(task.id for task in chosen), trials, tuple(one.NAME for one in protocols))
    filed = Labels(
        project=project or settings.project,
        labels=tuple(label_of(text) for text in labels),
        operator=operator,
        run=name,
        seed=seed,
    )
    given = {"weak": weak, "strong": strong, "user": user}
    named = named_models(protocols, given, settings)
    if "user" not in named and env.startswith("tau2:"):
        raise UsageError(f"{env} has a simulated user: name the model that plays it with --user MODEL.")
    for said in lacking(protocols, options) + unasked(protocols, given):
        console.say(said, style="warning")
    given_prompts = open_prompts(prompts)
    spec = going_on.spec(env, protocols, named, given_prompts, seed, settings)
    with console.progress() as progress:
        models = Models(settings, weights_progress(progress), lambda words: progress.note(words, "warning"))
        clients = {role: models.open(model) for role, model in named.items()}
        require_scoring(protocols, clients, named, settings)
        store = open_store(database_url(db, settings))
        try:
            offers = going_on.offered(lambda: open_environment(env), protocols[0])
            before = Before() if name is None else going_on.go_on(store, name, spec, asked, offers)
            todo = [cell for cell in wanted if cell.key not in before.results]
            if len(todo) < len(wanted):
                there = len(wanted) - len(todo)
                progress.note(f"Run {name} goes on: of {counted(len(wanted), 'episode')} it has {there}.", "dim")
            watch = EpisodeWatch(progress, total=len(todo), protocols=len(protocols) > 1)
            batch = Batch(
                cells=todo,
                open_environment=lambda: open_environment(env),
                clients=clients,
                store=store,
                concurrency=concurrency,
                labels=filed,
                prompts=given_prompts,
                limits=Limits(act_s=act_timeout_s),
                prices=settings.prices,
                purse=Purse(max_cost_usd, max_wall_s, of_run=True, spent=before.micro_usd),
                watch=watch,
                admit=before.admit,
                redactor=redactor_for(store, settings.redaction),
            )
            ended: list[Ended] = []
            try:
                run_loop(_collect(batch, ended, watch, models))
            except KeyboardInterrupt:
                watch.interrupted()
                if ended and not as_json:
                    run_report.show(run_report.in_order(wanted, ended))
                run_report.say_how_to_go_on(name)
                raise
        finally:
            store.close()
    earlier = [before.results[cell.key] for cell in wanted if cell.key in before.results]
    _report(run_report.in_order(wanted, [*earlier, *ended]), watch, as_json=as_json)
    failed = any(isinstance(one, NotRecorded) or one.outcome.status == "failed" for one in ended)
    cut = any(isinstance(one, Recorded) and cut_by_run(one.outcome.reason) for one in ended)
    if batch.left or cut:
        run_report.say_left(batch.left, batch.stopped)
        if batch.stopped not in {COST_UNKNOWN, TOKENS_UNKNOWN}:  # the same command would stop there again
            run_report.say_how_to_go_on(name)
    ctx.exit(1 if failed or cut or batch.left or watch.ungraded else 0)


def _report(told: Sequence[Told], watch: EpisodeWatch, *, as_json: bool) -> None:
    errors = [None if isinstance(one, EpisodeSummary) else watch.error(one) for one in told]
    if as_json:
        document.write("run", [run_report.item(one, error) for one, error in zip(told, errors, strict=True)])
    else:
        run_report.show(told)
    for reason in dict.fromkeys(str(one.error) for one in told if isinstance(one, NotRecorded)):
        console.say(f"Not recorded: {reason}", style="error")


async def _collect(batch: Batch, ended: list[Ended], watch: EpisodeWatch, models: Models) -> None:
    """Let the episodes run to their ends; close the models whatever happens."""
    try:
        # Interrupted: the episodes end before the models that they ask.
        async with aclosing(cast("AsyncGenerator[Ended, None]", batch.run())) as running:
            async for one in running:
                ended.append(one)
                watch.ended(one)
    finally:
        await models.close()
