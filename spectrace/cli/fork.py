"""`spectrace fork`: go another way from an event of a recorded episode on, in a child episode."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from spectrace.audit.queries import Reader
from spectrace.audit.settling import person
from spectrace.cli import child as child_episode
from spectrace.cli import console, document
from spectrace.cli.console import Column
from spectrace.cli.loop import run_loop
from spectrace.cli.options import db_option, json_option
from spectrace.cli.run_choices import lacking, named_models, require_scoring, require_user, unasked
from spectrace.cli.select import event_of
from spectrace.cli.watch import EpisodeWatch, weights_progress
from spectrace.config import Models, database_url, open_environment, open_prompts, protocol, settings_here
from spectrace.core.events import Event
from spectrace.core.options import recorded_options
from spectrace.core.protocols import protocol_of, recorded_protocol
from spectrace.errors import UsageError
from spectrace.runs.fork import Edit, fork_episode, fork_point
from spectrace.runs.live import EpisodeProtocol, Recorded
from spectrace.runs.preflight import readable
from spectrace.store.redaction_key import redactor_for
from spectrace.store.sql import open_store


@click.command()
@click.argument("event", metavar="EP:SEQ")
@click.option(
    "--env", required=True, metavar="ENV", help="The environment to run on; the one that the episode was recorded on."
)
@click.option(
    "--answer",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="JSON of a verdict to take the place of the recorded one at SEQ; needs --by.",
)
@click.option(
    "--by", metavar="NAME", help="Who answers for the fork; an edited verdict's writes run on their authority."
)
@click.option("--weak", metavar="MODEL", help="The drafter from there on. [default: `weak` of spectrace.toml]")
@click.option("--strong", metavar="MODEL", help="The reviewer from there on. [default: `strong` of spectrace.toml]")
@click.option("--user", metavar="MODEL", help="The simulated user, where the environment has one.")
@click.option(
    "-o", "--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of the protocol to change."
)
@click.option(
    "--prompts",
    default="recorded",
    show_default=True,
    metavar="recorded|current|FILE",
    help="The prompts of the child episode.",
)
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    event: str,
    env: str,
    answer: Path | None,
    by: str | None,
    weak: str | None,
    strong: str | None,
    user: str | None,
    options: Sequence[str],
    prompts: str,
    db: str | None,
    *,
    as_json: bool,
) -> None:
    """Run an episode again from its record up to an event and live after it, in a child episode."""
    prefix, seq = event_of(event)
    if seq is None:
        raise UsageError(f"name the event to fork at as EP:SEQ, found {event!r}; `spectrace show {prefix}` lists them.")
    edit, rendered, settings = _edit(answer, by), open_prompts(prompts), settings_here()
    url = database_url(db, settings)
    # Refuses what is missing, where opening to write would make it, and what is only read from a copy.
    with Reader(open_store(url, read_only=True)) as reader:
        parent = reader.resolve(prefix)
        events = reader.events(parent)
    told = fork_point(events, seq, edit)
    chosen = _protocol(told, options)
    given = {"weak": weak, "strong": strong, "user": user}
    named = named_models([chosen], given, settings)
    for said in lacking([chosen], options) + unasked([chosen], given):
        console.say(said, style="warning")
    with console.progress() as progress:
        models = Models(settings, weights_progress(progress))
        clients = {role: models.open(model) for role, model in named.items()}
        require_scoring([chosen], clients, named, settings)
        require_user(readable(told), clients)
        store, watch = open_store(url), EpisodeWatch(progress, total=1)

        async def go() -> Recorded:
            try:
                return await fork_episode(
                    events,
                    seq,
                    open_environment(env),
                    clients,
                    store,
                    protocol=chosen,
                    prompts=rendered,
                    edit=edit,
                    operator=by,
                    prices=settings.prices,
                    watch=watch,
                    redactor=redactor_for(store, settings.redaction),
                )
            finally:
                await models.close()

        try:
            child = run_loop(go())
            watch.ended(child)
        finally:
            store.close()
    found = item(child, parent, told[-1].seq, edit)
    if as_json:
        document.write("fork", [found])
    else:
        show(found)
    ctx.exit(1 if child.outcome.status == "failed" else 0)


def _edit(answer: Path | None, by: str | None) -> Edit | None:
    """Return the edited verdict, with the person who answers for it."""
    who = None if by is None else person(by)
    if answer is None:
        return None
    if who is None:
        raise UsageError("--answer needs --by NAME: what then runs is done on that person's authority.")
    try:
        text = answer.expanduser().read_text(encoding="utf-8").strip()
        json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) else f"it is no JSON: {error}"
        raise UsageError(f"--answer {answer} cannot be read: {why}.") from None
    return Edit(text, who)


def _protocol(told: Sequence[Event], options: Sequence[str]) -> EpisodeProtocol:
    """Return the recorded protocol, with the options that were given in place of the recorded ones."""
    started = readable(told)
    recorded = recorded_protocol(started)
    if not options:
        return recorded
    given = protocol(started.protocol, options)
    changed: Mapping[str, object] = {text.partition("=")[0]: None for text in options}
    values = {**(recorded_options(started.options) or {}), **{name: getattr(given, name) for name in changed}}
    return protocol_of(started.protocol, values)


def show(found: Mapping[str, object]) -> None:
    """Write the child as a table of one row."""
    by = found["edited_by"]
    child_episode.show(found, "parent", Column("edited by", rank=3), None if by is None else str(by))


def item(child: Recorded, parent: str, seq: int, edit: Edit | None) -> dict[str, object]:
    """Return the JSON item of a child."""
    return {
        "episode": child.episode,
        "parent": parent,
        "seq": seq,
        "edited_by": None if edit is None else edit.by.removeprefix("person:"),
    } | child_episode.outcome_of(child)
