"""`spectrace resume`: go on with an interrupted episode where it stopped, in a child episode, doing nothing twice."""

from collections.abc import Mapping

import click

from spectrace.audit.children import require_untouched
from spectrace.audit.queries import Reader
from spectrace.audit.recovery import require_ended
from spectrace.audit.settling import person, unmoved
from spectrace.cli import child as child_episode
from spectrace.cli import console, document
from spectrace.cli.console import Column
from spectrace.cli.loop import run_loop
from spectrace.cli.options import db_option, json_option
from spectrace.cli.run_choices import named_models, require_scoring, require_user, unasked
from spectrace.cli.select import event_of
from spectrace.cli.watch import EpisodeWatch, weights_progress
from spectrace.config import Models, database_url, open_environment, settings_here
from spectrace.core.events import EpisodeStarted
from spectrace.core.protocols import recorded_protocol
from spectrace.core.types import ModelFacts
from spectrace.errors import UsageError
from spectrace.runs.interrupted import Left, left_by
from spectrace.runs.live import Recorded
from spectrace.runs.resume import resume_episode
from spectrace.store.redaction_key import redactor_for
from spectrace.store.sql import SqlEventStore, open_store


@click.command()
@click.argument("episode", metavar="EP")
@click.option(
    "--env", required=True, metavar="ENV", help="The environment that it ran on; its state must have outlived it."
)
@click.option("--by", metavar="NAME", help="Who answers for going on.")
@click.option("--weak", metavar="MODEL", help="The drafter. [default: `weak` of spectrace.toml]")
@click.option("--strong", metavar="MODEL", help="The reviewer. [default: `strong` of spectrace.toml]")
@click.option("--user", metavar="MODEL", help="The simulated user, where the environment has one.")
@click.option("--moved", is_flag=True, help="Go on though the environment's state is not the one that was recorded.")
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    episode: str,
    env: str,
    by: str | None,
    weak: str | None,
    strong: str | None,
    user: str | None,
    db: str | None,
    *,
    moved: bool,
    as_json: bool,
) -> None:
    """Go on with an interrupted episode where it stopped, in a child episode, and do nothing again that was done."""
    prefix, seq = event_of(episode)
    if seq is not None:
        raise UsageError(
            f"an episode is resumed from its end: name it without :{seq}; `spectrace fork` takes an event."
        )
    if by is not None:
        person(by)  # refuses a name that could be taken for another
    settings = settings_here()
    url = database_url(db, settings)
    # Refuses what is missing, where opening to write would make it, and what is only read from a copy.
    with Reader(open_store(url, read_only=True)) as reader:
        parent = reader.resolve(prefix)
    store = open_store(url)
    try:
        left = _left(store, parent)
        protocol = recorded_protocol(left.started)
        given = {"weak": weak, "strong": strong, "user": user}
        named = named_models([protocol], given, settings)
        for said in unasked([protocol], given):
            console.say(said, style="warning")
        with console.progress() as progress:
            models = Models(settings, weights_progress(progress))
            clients = {role: models.open(model) for role, model in named.items()}
            require_scoring([protocol], clients, named, settings)
            require_user(left.started, clients)
            watch = EpisodeWatch(progress, total=1)

            async def go() -> Recorded:
                try:
                    return await resume_episode(
                        left,
                        open_environment(env),
                        clients,
                        store,
                        by=by,
                        moved=moved,
                        prices=settings.prices,
                        watch=watch,
                        admit=lambda: require_untouched(store, parent),
                        redactor=redactor_for(store, settings.redaction),
                    )
                finally:
                    await models.close()

            child = run_loop(go())
            watch.ended(child)
        still = unmoved(list(store.read(child.episode, prompts=False)))
        for said in [*_other_models(store, left, child.episode), *still]:
            console.say(said, style="warning")
    finally:
        store.close()
    found = item(child, left)
    if as_json:
        document.write("resume", [found])
    else:
        show(found)
    ctx.exit(1 if child.outcome.status == "failed" else 0)


def _left(store: SqlEventStore, episode: str) -> Left:
    """Return what the episode left; one whose writer is gone gets its end first, as by `recover`."""
    require_ended(store, episode)
    left = left_by(list(store.read(episode)))
    require_untouched(store, episode)
    return left


def _other_models(store: SqlEventStore, left: Left, child: str) -> list[str]:
    """Return a sentence for each model that is another one than before: the record is of both."""
    body = next(iter(store.read(child, 0, 1))).body
    now = {facts.role: facts for facts in body.models} if isinstance(body, EpisodeStarted) else {}
    return [
        f"{facts.role} was {_name(facts)}; from here on it is {_name(now[facts.role])}."
        for facts in left.started.models
        if facts.role in now and _name(facts) != _name(now[facts.role])
    ]


def _name(facts: ModelFacts) -> str:
    return f"{facts.provider}:{facts.name}"


def show(found: Mapping[str, object]) -> None:
    """Write the child as a table of one row."""
    taken = Column("taken over", right=True, rank=3)
    child_episode.show(found, "goes on from", taken, f"{found['taken_over']} events")
    both = f"{found['parent']} {found['episode']}"
    console.say(
        f"What {found['parent']} did stands there, and is not counted again: `spectrace audit actions {both}` lists "
        "each action once."
    )


def item(child: Recorded, left: Left) -> dict[str, object]:
    """Return the JSON item of a child; `writes` are its own."""
    return {
        "episode": child.episode,
        "parent": left.events[0].episode,
        "seq": left.told[-1].seq,
        "taken_over": len(left.told) - 1,
        "settled": sorted([*left.words, *left.never]),
    } | child_episode.outcome_of(child)
