"""`spectrace reverify`: put every recorded review to another verifier, in the context that the first one saw."""

import json
import time
from collections.abc import Sequence
from datetime import UTC, datetime

import click

from spectrace.audit.agreement import asked_again, judged_reviews
from spectrace.audit.answers import Filters
from spectrace.audit.lines import counted
from spectrace.audit.queries import Reader, open_reader
from spectrace.cli import agreement, console, document
from spectrace.cli.console import Progress
from spectrace.cli.loop import run_loop
from spectrace.cli.options import db_option, filter_options, json_option
from spectrace.cli.select import chosen, episodes_argument
from spectrace.cli.watch import weights_progress
from spectrace.config import Models, database_url, open_prompts, settings_here
from spectrace.core.digest import text_digest
from spectrace.core.events import Body, GenerateFailed, GenerateRequested, VerdictGiven
from spectrace.core.prompts import Prompts
from spectrace.core.types import Outcome, Verdict
from spectrace.errors import UsageError
from spectrace.models.client import ModelClient
from spectrace.runs.reverify import REVERIFY, Recheck, rechecks_of, reverify_episode
from spectrace.store import runs
from spectrace.store.sql import SqlEventStore, open_store


@click.command()
@episodes_argument
@click.option("--verifier", required=True, metavar="MODEL", help="The model that judges again.")
@click.option("--name", metavar="NAME", help="Name the run; the same name goes on where it stopped. [default: dated]")
@click.option("--only", type=click.Choice(["rejected"]), help="Only reviews that were rejections.")
@click.option(
    "--prompts",
    default="recorded",
    show_default=True,
    metavar="recorded|current|FILE",
    help="The prompts to ask with.",
)
@filter_options()
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    episodes: Sequence[str],
    verifier: str,
    name: str | None,
    only: str | None,
    prompts: str,
    db: str | None,
    *,
    filters: Filters,
    every: bool,
    as_json: bool,
) -> None:
    """Judge recorded reviews again with another model, and set both verdicts side by side."""
    settings, asked = settings_here(), open_prompts(prompts)
    run = name or f"reverify-{datetime.now(UTC).strftime('%Y%m%dT%H%M%SZ')}"
    url = database_url(db, settings)
    with open_reader(url) as reading:  # refuses a database that is missing, where opening to write would make it
        names = [episode for episode in chosen(reading, episodes, every, filters) if not _is_pass(reading, episode)]
    if not names:
        raise UsageError("these are re-verifications themselves: name the episodes that they judge.")
    store = open_store(url)
    reader = Reader(store)
    with reader, console.progress() as progress:
        begin(store, reader, run, names, verifier, asked, only_rejected=only is not None)
        models = Models(settings, weights_progress(progress))

        async def go() -> list[tuple[list[Recheck], Outcome]]:
            try:
                client = models.open(verifier)
                return [
                    await judge(reader, episode, client, run, progress, prompts=asked, only_rejected=only is not None)
                    for episode in names
                ]
            finally:
                await models.close()

        done = run_loop(go())
        failed = [
            f"{episode} was not judged to its end: {outcome.status}, {outcome.reason}{_cause(reader, run, episode)}"
            for episode, (_, outcome) in zip(names, done, strict=True)
            if outcome.status != "completed"
        ]
        rechecks = [recheck for found, _ in done for recheck in found]
        ended = {episode: outcome for episode, (_, outcome) in zip(names, done, strict=True)}
        reviews = [] if as_json else judged_reviews(reader, rechecks, ended, only_rejected=only is not None)
        again = asked_again(reader, names) if only and not as_json else []
    if as_json:
        document.write("reverify", [item(one) for one in rechecks])
    else:
        console.line(("run ", "dim"), (run, "name"), f"  {counted(len(names), 'episode')}, verifier {verifier}")
        agreement.show(rechecks, reviews, only_rejected=only is not None, again=again)
    for said in failed:
        console.say(said, style="error")
    ctx.exit(1 if failed else 0)


def begin(
    store: SqlEventStore,
    reader: Reader,
    run: str,
    names: Sequence[str],
    verifier: str,
    prompts: Prompts | None,
    *,
    only_rejected: bool,
) -> None:
    """Begin the run, or go on with it; refuse a name that stands for other work, so that no table mixes two."""
    other = next((one for one in reader.iter_episodes(Filters(run=(run,))) if one.protocol != REVERIFY), None)
    if other is not None:
        raise UsageError(f"run {run!r} is one of recorded episodes ({other.episode}, ...): give another --name.")
    settings = {
        "verifier": verifier,
        "prompts": None if prompts is None else text_digest(prompts.to_json()),
        "only_rejected": only_rejected,
    }
    selection = [(episode, store.row(episode).head.hex()) for episode in names]
    runs.begin(store, run, "reverify", selection, json.dumps(settings, sort_keys=True))


async def judge(
    reader: Reader,
    episode: str,
    verifier: ModelClient,
    run: str,
    progress: Progress,
    *,
    prompts: Prompts | None = None,
    only_rejected: bool = False,
) -> tuple[list[Recheck], Outcome]:
    """Judge one episode, unless this run has judged it already."""
    events = reader.events(episode)
    for one in reader.iter_episodes(Filters(run=(run,), protocol=(REVERIFY,), status=("completed",))):
        if one.parent == episode:
            progress.note(f"{episode}  judged already in run {run}", "dim")
            return rechecks_of(run, reader.events(one.episode), events), Outcome("completed", "reviewed")
    begun = time.monotonic()

    def watch(child: str, seq: int, body: Body) -> None:
        del seq
        match body:
            case GenerateRequested(position=position):
                progress.show(child, (episode, "name"), f"  {position}: the verifier is asked")
            case VerdictGiven(segment=segment, outcome=outcome):
                took = round(time.monotonic() - begun)
                progress.note(f"{episode}  segment {segment}: {outcome}  [{took} s]", "dim")
                progress.drop(child)
            case _:
                pass

    return await reverify_episode(
        events, verifier, reader.store, run, prompts=prompts, only_rejected=only_rejected, watch=watch
    )


def _cause(reader: Reader, run: str, episode: str) -> str:
    """Return the verifier's last error, if that is what a pass over an episode ended of."""
    for child in reader.iter_episodes(Filters(run=(run,), protocol=(REVERIFY,))):
        if child.parent == episode:
            errors = [
                event.body.error for event in reader.events(child.episode) if isinstance(event.body, GenerateFailed)
            ]
            return f". {errors[-1]}" if errors else "."
    return "."


def _is_pass(reader: Reader, episode: str) -> bool:
    return reader.episode(episode).started.protocol == REVERIFY


def item(one: Recheck) -> dict[str, object]:
    """Return the JSON item of a review judged again."""
    return {
        "run": one.run,
        "episode": one.episode,
        "child": one.child,
        "segment": one.segment,
        "verdict_seq": one.verdict_seq,
        "derived": one.derived,
        "recorded": None if one.recorded is None else _verdict(one.recorded),
        "new": _verdict(one.new),
        "agree": one.agree,
        "counterfactual": one.counterfactual,
    }


def _verdict(verdict: Verdict) -> dict[str, object]:
    return {
        "decision": verdict.decision,
        "drafted": verdict.drafted,
        "accepted": verdict.accepted,
        "status": verdict.status,
        "category": verdict.category,
        "reason": verdict.reason,
        "cause": verdict.cause,
    }
