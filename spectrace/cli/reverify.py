"""`spectrace reverify`: put every recorded review to another verifier, in the context that the first one saw."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import click

from spectrace.audit.answers import Filters
from spectrace.audit.lines import counted
from spectrace.audit.passes import Pass, read_pass
from spectrace.audit.queries import Reader, open_reader
from spectrace.audit.reverified import read_reverified
from spectrace.cli import agreement, console, document, reverify_report
from spectrace.cli.enqueue import queue_option, require_queue, say_queued, shard_option
from spectrace.cli.label_template import selected_requests, write_template
from spectrace.cli.loop import run_loop
from spectrace.cli.options import db_option, dollars, filter_options, json_option, whole
from spectrace.cli.reverify_begin import plan_of
from spectrace.cli.reverify_pass import Passing
from spectrace.cli.scoring import threshold_option, verdict_option
from spectrace.cli.select import chosen, episodes_argument
from spectrace.cli.watch import weights_progress
from spectrace.config import database_url, open_prompts, open_verifier, settings_here, verifier_name
from spectrace.core.events import EpisodeStarted
from spectrace.core.rereviews import REVERIFY
from spectrace.core.review_request import ReviewRequest
from spectrace.core.versions import require_readable
from spectrace.errors import UsageError
from spectrace.redaction.filing import require_plain
from spectrace.store import runs
from spectrace.store.sql import SqlEventStore, open_store


@click.command()
@episodes_argument
@click.option(
    "--verifier", required=True, metavar="MODEL", help="Who judges: a model, MODULE:ATTRIBUTE or labels:FILE."
)
@click.option("--name", metavar="NAME", help="Name the run; the same name goes on where it stopped. [default: dated]")
@click.option("--repeat", type=whole(1), metavar="K", help="How often each review is judged. [default: 1]")
@click.option("--only", type=click.Choice(["rejected"]), help="Only reviews that were rejections.")
@click.option(
    "--prompts",
    default="recorded",
    show_default=True,
    metavar="recorded|current|FILE",
    help="The prompts to ask with.",
)
@verdict_option
@threshold_option
@click.option("--concurrency", type=whole(1), default=1, show_default=True, help="Episodes judged at once.")
@click.option(
    "--max-cost-usd",
    callback=dollars,
    metavar="USD",
    help="Stop once the run has cost so much, by the verifier's price.",
)
@click.option(
    "--template",
    is_flag=True,
    help="Write labels:FILE, a CSV for people to fill in (decision, accepted, category, reason, by); judge nothing.",
)
@queue_option
@shard_option
@filter_options()
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    episodes: Sequence[str],
    verifier: str,
    name: str | None,
    repeat: int | None,
    only: str | None,
    prompts: str,
    verdict: str | None,
    threshold: str | None,
    concurrency: int,
    max_cost_usd: str | None,
    shard: int,
    db: str | None,
    *,
    template: bool,
    queue: bool,
    filters: Filters,
    every: bool,
    as_json: bool,
) -> None:
    """Judge recorded reviews again with another verifier, and set both verdicts side by side."""
    settings, asked = settings_here(), open_prompts(prompts)
    require_plain(settings.redaction, {"the run": name})
    url = database_url(db, settings)
    if queue:
        require_queue(url, max_cost_usd)
    run = name or f"reverify-{datetime.now(UTC).strftime('%Y%m%dT%H%M%SZ')}"
    with open_reader(url) as reading:  # refuses a database that is missing, where opening to write would make it
        known = runs.find(reading.store, run) if isinstance(reading.store, SqlEventStore) else None
        names = _names(reading, episodes, every, filters, known)
        if template:
            if verdict == "scored" or threshold is not None:
                raise UsageError(
                    "--template is for people, who give no probabilities: no --verdict scored, --threshold."
                )
            _write_template(verifier, selected_requests(reading, names, only_rejected=only is not None))
    if template:
        if as_json:
            document.write("reverify", [])
        return
    called = verifier_name(verifier, settings)
    plan = plan_of(
        run,
        called,
        asked,
        only_rejected=only is not None,
        repeat=repeat,
        known=known,
        verdict=verdict,
        threshold=threshold,
    )
    with console.progress() as progress:
        with document.kept_clean():
            pool = open_verifier(verifier, settings, progress.note, progress=weights_progress(progress))
        reader = Reader(open_store(url))
        with reader:
            passing = Passing(reader, plan, pool, names, asked, settings.prices, progress)
            try:
                with document.kept_clean():
                    run_loop(passing.queue(shard) if queue else passing.go(concurrency, max_cost_usd))
            except KeyboardInterrupt:
                if passing.begun:
                    passing.say(read_pass(reader, run), "interrupted")
                raise
            if queue:
                _say_queued(passing, prompts, url, as_json=as_json)
                ctx.exit(0)
            found = _report(reader, passing, as_json=as_json)
    ctx.exit(1 if passing.has_left(found) else 0)


def _write_template(verifier: str, requests: Iterator[ReviewRequest]) -> None:
    """Give people the selected reviews to label."""
    kind, _, file = verifier.partition(":")
    if kind != "labels" or not file:
        raise UsageError(f"--template writes the file of --verifier labels:FILE, found --verifier {verifier}.")
    rows = write_template(file, requests)
    console.say(f"{counted(rows, 'review')} in {file}: fill in decision (accept, reject) and, of a reject, accepted,")
    console.say("how many of its steps stand. The same command without --template judges by what is filled in.")


def _names(
    reader: Reader,
    episodes: Sequence[str],
    every: bool,  # noqa: FBT001 - a flag of the command line
    filters: Filters,
    known: runs.Run | None,
) -> list[str]:
    """Return the episodes to judge: those chosen, or with nothing but the name of a run, those that it has."""
    if known is not None and known.kind == REVERIFY and not (episodes or every or filters != Filters()):
        return [episode for episode, _ in known.selection]
    names = [one for one in chosen(reader, episodes, every, filters) if not _is_pass(reader, one)]
    if not names:
        raise UsageError("these are re-verifications themselves: name the episodes that they judge.")
    return names


def _is_pass(reader: Reader, episode: str) -> bool:
    first = reader.first(episode)
    require_readable(first)
    return isinstance(first.body, EpisodeStarted) and first.body.protocol == REVERIFY


def _say_queued(passing: Passing, prompts: str, url: str, *, as_json: bool) -> None:
    """Say what was queued; the document holds what is judged so far."""
    say_queued(passing.plan, passing.shards, prompts, url)
    if as_json:
        found = read_pass(passing.reader, passing.plan.run)
        document.write("reverify", reverify_report.items(passing.reader, found))


def _report(reader: Reader, passing: Passing, *, as_json: bool) -> Pass:
    run = passing.plan.run
    if as_json:
        found = read_pass(reader, run)
        document.write("reverify", reverify_report.items(reader, found))
    else:
        console.line(("run ", "dim"), (run, "name"), f"  verifier {passing.plan.verifier}, {passing.plan.reading}")
        told = read_reverified(reader, [run])
        agreement.show(told)
        found = told.runs[0].found
    passing.say(found, passing.stopped)
    return found
