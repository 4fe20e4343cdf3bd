"""`spectrace demo`: the whole main path, live, on the order desk.

Ordinary tasks, ordinary prompts, nothing planted: if no draft is rejected within four episodes, it says so.
"""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.resources import files

import click

from spectrace.audit.integrity import CONSISTENT, verify_episode
from spectrace.audit.lines import counted
from spectrace.audit.queries import Filters, Reader
from spectrace.audit.reverified import read_reverified
from spectrace.cli import (
    agreement,
    audit,
    console,
    document,
    replay,
    replay_report,
    reverify_report,
    run_report,
    story,
    verify,
    why,
)
from spectrace.cli.loop import run_loop
from spectrace.cli.options import db_option, json_option
from spectrace.cli.reverify_watch import PassWatch
from spectrace.cli.watch import EpisodeWatch, weights_progress
from spectrace.config import Models, database_url, open_environment, settings_here
from spectrace.config import Progress as Fetched
from spectrace.core.fold import fold
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Task
from spectrace.errors import SpectraceError
from spectrace.redaction.redactor import Redactor
from spectrace.runs.live import Labels, Recorded, record
from spectrace.runs.reverify import reverify_episode
from spectrace.settings import Settings
from spectrace.store.redaction_key import redactor_for
from spectrace.store.sql import open_store

_MOST = 4
_ENV = "shop"
_MAX_STEPS = 12
"""Of an episode: a pair this small may go round in circles, and a step takes seconds on a CPU."""


def _script(name: str) -> str:
    return f"scripted:{files('spectrace.environments').joinpath('shop_scripts', f'{name}.json')}"


PAIRS: Mapping[str, Mapping[str, str]] = {
    "local": {"weak": "local:weak", "strong": "local:strong", "verifier": "local:weak"},
    "scripted": {"weak": _script("weak"), "strong": _script("strong"), "verifier": _script("verifier")},
}
_SCRIPTED_TASKS = ("cancel-own", "voucher-late", "cancel-shipped")


@click.command()
@click.option(
    "--models",
    type=click.Choice(list(PAIRS)),
    default="local",
    show_default=True,
    help="Two real models in this process (1.6 GB, fetched once), or scripts in their place.",
)
@db_option
@json_option
@click.pass_context
def command(ctx: click.Context, models: str, db: str | None, *, as_json: bool) -> None:
    """Record episodes until a draft is rejected, then replay, verify, explain, list and re-verify it."""
    settings = settings_here()
    demo = _Demo(settings, database_url(db, settings), models, given_db=db, quiet=as_json)
    ok = run_loop(demo.go())
    if as_json:
        document.write("demo", demo.items)
    ctx.exit(0 if ok else 1)


class _Demo:
    """The steps, each shown with the command that does the same."""

    def __init__(self, settings: Settings, url: str, pair: str, *, given_db: str | None, quiet: bool) -> None:
        self.items: list[dict[str, object]] = []
        self._url = url
        self._pair = pair
        self._quiet = quiet
        self._settings = settings
        self._begun = time.monotonic()
        self._weights: Fetched | None = None
        self._redacting: tuple[Redactor | None] | None = None
        self._tail = f" --db {given_db}" if given_db else ""

    async def go(self) -> bool:
        """Run every step; return whether all went as it should."""
        models = Models(self._settings, self._fetched)
        try:
            with Reader(open_store(self._url)) as reader:
                self._head(self._run_command(), "Episodes, until the strong model rejects a draft and repairs it")
                with console.progress() as progress:
                    self._weights = weights_progress(progress)
                    recorded = await self._record(reader, models, EpisodeWatch(progress, _MOST))
                return await self._tell(reader, models, recorded)
        finally:
            await models.close()

    def _fetched(self, done: int, total: int, note: str) -> None:
        """Show weights being fetched, on whatever lines are open now."""
        if self._weights is not None:
            self._weights(done, total, note)

    def _run_command(self) -> str:
        pair = PAIRS[self._pair]
        models = f"--weak {pair['weak']} --strong {pair['strong']}" if self._pair == "local" else "(scripted models)"
        return f"run --env {_ENV} --task ... -o max_steps={_MAX_STEPS} {models}"

    async def _record(self, reader: Reader, models: Models, watch: EpisodeWatch) -> list[Recorded]:
        """Record episodes until one shows a rejection and its repair."""
        pair = PAIRS[self._pair]
        clients = {role: models.open(pair[role]) for role in ("weak", "strong")}
        recorded: list[Recorded] = []
        for task in self._tasks():
            one = await record(
                task,
                open_environment(_ENV),
                clients,
                SpecAgent(max_steps=_MAX_STEPS),
                reader.store,
                labels=Labels(project=self._settings.project, run=None, labels=(("made_by", "demo"),)),
                watch=watch,
                redactor=self._redactor(reader),
            )
            watch.ended(one)
            recorded.append(one)
            if _repaired(reader, one.episode):
                break
        return recorded

    def _redactor(self, reader: Reader) -> Redactor | None:
        if self._redacting is None:
            self._redacting = (redactor_for(reader.store, self._settings.redaction),)
        return self._redacting[0]

    def _tasks(self) -> list[Task]:
        tasks = open_environment(_ENV).tasks()
        if self._pair == "scripted":
            tasks = tuple(task for task in tasks if task.id in _SCRIPTED_TASKS)
        return list(tasks[:_MOST])

    async def _tell(self, reader: Reader, models: Models, recorded: list[Recorded]) -> bool:
        shown = recorded[-1].episode
        self._add("run", [run_report.item(one) for one in recorded])
        if not self._quiet:
            run_report.show(recorded)
            rejected = _repaired(reader, shown)
            console.line(
                f"{counted(len(recorded), 'episode')} recorded in {time.monotonic() - self._begun:.0f} s. ",
                (
                    f"The strong model rejected a draft in {shown}."
                    if rejected
                    else f"No draft was rejected in {counted(len(recorded), 'episode')}; the rest is shown on {shown}.",
                    "strong",
                ),
            )
        same = await self._replay(reader, shown)
        consistent = self._verify(reader, shown)
        self._why(reader, shown)
        self._actions(reader, shown)
        await self._reverify(reader, models, shown)
        if not self._quiet:
            self._go_on(shown)
        return same and consistent and all(one.outcome.status != "failed" for one in recorded)

    async def _replay(self, reader: Reader, episode: str) -> bool:
        self._head(f"replay {episode}", "The protocol runs again, answered from the record")
        result = await replay.replayed(reader, episode)
        self._add("replay", [replay_report.item(result)])
        if not self._quiet:
            replay_report.show([result])
        return result.result == "same"

    def _verify(self, reader: Reader, episode: str) -> bool:
        self._head(f"verify {episode}", "Is the log intact?")
        result = verify_episode(reader.store, episode)
        self._add("verify", [verify.item(result)])
        if not self._quiet:
            verify.show([result])
        return result.result == CONSISTENT

    def _why(self, reader: Reader, episode: str) -> None:
        self._head(f"why {episode}", "Why was the draft rejected?")
        items = reader.why(episode)
        self._add("why", [why.item(one) for one in items])
        if not self._quiet:
            story.tell(reader.episode(episode), items[:1])
            if len(items) > 1:
                console.line((f"{len(items) - 1} more in this episode: the same command tells all.", "dim"))

    def _actions(self, reader: Reader, episode: str) -> None:
        self._head(f"audit actions {episode}", "What was done, and on whose authority?")
        deeds = list(reader.actions(Filters(), episodes={episode}))
        self._add("actions", [audit.item(deed) for deed in deeds])
        if not self._quiet:
            audit.show(deeds)

    async def _reverify(self, reader: Reader, models: Models, episode: str) -> None:
        name = f"demo-{datetime.now(UTC).strftime('%Y%m%dT%H%M%SZ')}"
        spec = PAIRS[self._pair]["verifier"]
        shown = spec if self._pair == "local" else "(a scripted model)"
        self._head(f"reverify {episode} --verifier {shown} --name {name}", "Would the other model have judged alike?")
        events = reader.events(episode)
        with console.progress() as progress:
            watch = PassWatch(progress, fold(events).totals.reviews)
            _, outcome = await reverify_episode(
                events, models.open(spec), reader.store, name, watch=watch, redactor=self._redactor(reader)
            )
        if outcome.status != "completed":
            raise SpectraceError(f"the re-verification ended {outcome.status}: {outcome.reason}.")
        found = read_reverified(reader, [name])
        self._add("reverify", reverify_report.items(reader, found.runs[0].found))
        if not self._quiet:
            agreement.show(found)

    def _head(self, command: str, question: str) -> None:
        if not self._quiet:
            console.line()
            console.rule(question)
            console.line((f"$ spectrace {command}{self._tail}", "dim"))

    def _add(self, step: str, items: list[dict[str, object]]) -> None:
        self.items.append({"step": step, "items": items})

    def _go_on(self, episode: str) -> None:
        console.line()
        console.rule("Go on with")
        for command, what in (
            ("ls", "every episode"),
            (f"show {episode}", "its events; show EP:SEQ has one in full"),
            (f"show {episode}:3 --as prompt", "the exact prompt of a model call"),
            (f"replay {episode} --tools live", "every action executed again on a fresh order desk"),
            (f"view {episode}", "the same in a browser (pip install 'spectrace[viewer]')"),
            ("run --help", "your own tasks, tools and models"),
        ):
            tail = "" if "--help" in command else self._tail
            console.line(("  spectrace ", "dim"), (f"{command}{tail}", "name"), (f"    # {what}", "dim"), hang=6)


def _repaired(reader: Reader, episode: str) -> bool:
    return any(item.decision == "reject" and item.repair for item in reader.why(episode))
