"""`spectrace verify`: whether episodes are intact by their own account, or what a signed checkpoint covers."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from spectrace.audit.answers import Filters
from spectrace.audit.bundles import Trust, verify_bundle
from spectrace.audit.checkpoint_files import Held
from spectrace.audit.integrity import CONSISTENT, INVALID, NOT_PROVED, VerifyResult
from spectrace.audit.proved_choice import told_by_leaves
from spectrace.audit.proved_log import Proof
from spectrace.audit.proving import PROVED, VALID, Unproved, forced, trusted
from spectrace.audit.queries import Reader
from spectrace.audit.signing import read_key
from spectrace.audit.verifying import verify_all
from spectrace.cli import console, document
from spectrace.cli.console import Column, status_span
from spectrace.cli.options import db_option, filter_options, json_option, reading, whole
from spectrace.cli.select import chosen, described, episodes_argument, typed
from spectrace.config import database_url
from spectrace.errors import EpisodeNotFound, UsageError
from spectrace.store.bundle_reader import is_zip
from spectrace.store.manifest import Period

_COLUMNS = (
    Column("episode"),
    Column("result"),
    Column("events", right=True, rank=2),
    Column("first bad", right=True, rank=1),
    Column("covered to", right=True, rank=3),
    Column("detail", flex=30),
)
_UNKNOWN = 3


@click.command()
@episodes_argument
@filter_options()
@click.option("--checkpoint", type=click.Path(path_type=Path), metavar="FILE", help="The checkpoint to compare with.")
@click.option("--key", metavar="PUB", help="The public key that signed it: as it stands, or the file that holds it.")
@click.option("--cosigner", "cosigners", multiple=True, metavar="PUB", help="Whose cosignature it must have too.")
@click.option("--origin", metavar="NAME", help="The log that the checkpoint must be of, as its first line names it.")
@click.option("--jobs", type=whole(1), metavar="N", help="Processes, where the log is large. [default: one a core]")
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    episodes: Sequence[str],
    checkpoint: Path | None,
    key: str | None,
    cosigners: Sequence[str],
    origin: str | None,
    jobs: int | None,
    db: str | None,
    *,
    filters: Filters,
    every: bool,
    as_json: bool,
) -> None:
    """Say whether episodes, or those of a bundle, are what a signed checkpoint covers, or else intact by themselves."""
    trust = trust_in(checkpoint, key, cosigners, origin)
    bundles = [name for name in episodes if _is_bundle(name)]
    period = _period(filters, key, every=every) if bundles and filters != Filters() else None
    results = [result for name in bundles for result in _bundle(Path(name), key, trust, period)]
    if len(bundles) < len(episodes) or not bundles or every:
        if key is not None and checkpoint is None:
            raise UsageError("--key PUB goes with --checkpoint FILE, or with bundles alone, which carry one.")
        names = [name for name in episodes if name not in bundles]
        results += _verified(db, names, trust, jobs, every=every, filters=filters)
    if isinstance(trust, Unproved):
        results.append(trust.result)
    elif trust is not None:
        results += forced(trust.path.name, trust.checkpoint)
        point = trust.checkpoint
        console.say(
            f"{trust.path.name} is of the log {point.origin} with {point.size:,} leaves; --origin asks for one."
        )
    if as_json:
        document.write("verify", [item(one) for one in results])
    else:
        show(results)
    found = {one.result for one in results}
    ctx.exit(1 if INVALID in found else 0 if found <= {CONSISTENT, VALID} else _UNKNOWN)


def trust_in(
    checkpoint: Path | None, key: str | None, cosigners: Sequence[str], origin: str | None = None
) -> Held | Unproved | None:
    """Return the checkpoint if it is signed as was asked; None where none was given."""
    if checkpoint is None:
        if cosigners:
            raise UsageError("--cosigner goes with --checkpoint FILE and --key PUB.")
        if origin is not None:
            raise UsageError("--origin goes with --checkpoint FILE and --key PUB.")
        return None
    if key is None:
        raise UsageError(
            "--checkpoint FILE goes with --key PUB: the public key of who signed it, which must not come from the "
            "place that the log comes from."
        )
    return trusted(checkpoint, read_key(key), [read_key(one) for one in cosigners], origin)


def _verified(
    db: str | None,
    episodes: Sequence[str],
    trust: Held | Unproved | None,
    jobs: int | None,
    *,
    every: bool,
    filters: Filters,
) -> list[VerifyResult]:
    """Verify episodes of a database; with a checkpoint and --all, the database as a whole."""
    whole = every and filters == Filters()
    with reading(db) as reader, console.progress() as progress:
        told = partial(_show_progress, progress)
        proof = Proof(reader.store, trust) if isinstance(trust, Held) else None
        names, gone = (proof.names(), []) if whole and proof else _chosen(reader, proof, episodes, filters, every=every)
        names += reader.administrative() if whole and not proof else []  # what was done to the log is evidence too
        results: list[VerifyResult] = list(verify_all(reader.store, names, jobs, told))
        if isinstance(trust, Unproved):
            return trust.of(results)
        if proof is None:
            return results
        if whole:
            told = partial(_show_progress, progress, what="episodes compared with what lists show of them")
            return proof.whole(results, database_url(db), jobs, told)
        return [*proof.episodes(results), *gone]


def _chosen(
    reader: Reader, proof: Proof | None, episodes: Sequence[str], filters: Filters, *, every: bool
) -> tuple[list[str], list[VerifyResult]]:
    """Return the episodes to verify, and what the checkpoint has of those that are meant and is not to be found."""
    if proof is None:
        return chosen(reader, episodes, every, filters), []
    if not episodes and filters != Filters():
        return _passing(reader, proof, filters, every=every)
    given = typed(episodes)
    gone = {name: proof.missing(name) for name in given}
    left = [name for name in given if not gone[name] or _is_there(reader, name)]
    names = chosen(reader, left, every, filters) if left or not given else []
    return names, list({one.episode: one for found in gone.values() for one in found}.values())


def _passing(reader: Reader, proof: Proof, filters: Filters, *, every: bool) -> tuple[list[str], list[VerifyResult]]:
    """Return the episodes that pass the filters, and what the checkpoint has of those that would."""
    try:
        names = chosen(reader, [], every, filters)
    except UsageError:
        gone = proof.unlisted([], filters)
        if not gone:
            raise
        return [], gone
    if not told_by_leaves(filters):
        console.say(
            "Chosen by what lists show, which nothing guards: `spectrace verify --all` with the checkpoint tells "
            "whether those are all."
        )
    return names, proof.unlisted(names, filters)


def _is_there(reader: Reader, prefix: str) -> bool:
    """Whether a prefix names an episode of the database, beside those that it lacks."""
    try:
        reader.resolve(prefix)
    except EpisodeNotFound:
        return False
    return True


def _is_bundle(name: str) -> bool:
    """Whether a file is meant, not an episode: what is called a zip and is there, or looks like one."""
    path = Path(name)
    return is_zip(path) or (path.suffix == ".zip" and path.is_file())


def _show_progress(progress: console.Progress, done: int, total: int, what: str = "episodes verified") -> None:
    if total > 1:
        progress.show("verify", (f"{done:,} of {total:,} {what}", "dim"))


def _period(filters: Filters, key: str | None, *, every: bool) -> Period:
    """Return the period that a bundle has to hold the whole of; refuse filters that say nothing of a bundle."""
    others = replace(filters, since=None, until=None)
    if others != Filters():
        raise UsageError(
            f"a bundle is verified whole: {described(others)} chooses nothing of it. --since and --until say which "
            "period it has to hold all of."
        )
    if every:
        raise UsageError(
            "--since and --until say which period a bundle has to hold all of, and which episodes of the database "
            "--all chooses: ask for one, then for the other."
        )
    if key is None:
        raise UsageError(
            "--since and --until ask whether a bundle holds all of a period, which only what was signed says: add "
            "--key PUB (and --checkpoint FILE, if you hold one)."
        )
    return Period(filters.since, filters.until)


def _bundle(
    path: Path, key: str | None, trust: Held | Unproved | None, period: Period | None
) -> Sequence[VerifyResult]:
    held = trust if isinstance(trust, Held) else None
    given = None if key is None or isinstance(trust, Unproved) else Trust(read_key(key), held, period)
    found = verify_bundle(path, given)
    console.say(f"{path} is a bundle, read as it lies. SHA-256 {found.sha256}.")
    return found.results if found.scope is None else (*found.results, found.scope)


def show(results: Sequence[VerifyResult]) -> None:
    """Write the results as a table, and what they do not prove."""
    rows: list[list[console.Cell]] = [
        [
            (one.episode, "name"),
            status_span(one.result),
            one.events,
            one.first_bad_seq,
            one.covered_to,
            one.detail,
        ]
        for one in results
    ]
    console.table(_COLUMNS, rows, "No episode passes.")
    if any(one.result == VALID for one in results):
        console.line((PROVED, "dim"))
    if any(one.result == CONSISTENT for one in results):
        console.line((NOT_PROVED, "dim"))


def item(one: VerifyResult) -> dict[str, object]:
    """Return the JSON item of a result."""
    return {
        "episode": one.episode,
        "result": one.result,
        "events": one.events,
        "first_bad_seq": one.first_bad_seq,
        "covered_to": one.covered_to,
        "detail": one.detail,
    }
