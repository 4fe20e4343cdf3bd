"""`spectrace checkpoint`: make keys, sign what a log holds, have it cosigned, and prove things with it."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType

import click

from spectrace.audit import checkpoint_files
from spectrace.audit.checkpoints import Created, Refused, create
from spectrace.audit.cosigning import Fork, cosign
from spectrace.audit.leaves import hashes, read_leaf
from spectrace.audit.lines import counted
from spectrace.audit.proofs import Consistency, Inclusion, Proof, check, read_proof
from spectrace.audit.proving import forced
from spectrace.audit.signing import cosigned_by, make_key, public_file, read_key, read_signer, signed_by
from spectrace.cli import console, document
from spectrace.cli.options import db_option, force_option, json_option, output_option, seconds_of, whole
from spectrace.cli.verify import item as verified_item
from spectrace.cli.verify import show
from spectrace.config import database_url
from spectrace.core import merkle
from spectrace.core.notes import BadNote, Key
from spectrace.errors import StoreError, UsageError
from spectrace.store.new_file import new_file
from spectrace.store.sql import open_store

_key_option = click.option(
    "--key", required=True, metavar="PUB", help="The log's public key, or the file that holds it."
)
_origin_option = click.option(
    "--origin", metavar="NAME", help="The log that it must be of, as its first line names it."
)
_file_argument = click.argument("file", type=click.Path(path_type=Path))
_UNKNOWN = 3


@click.group("checkpoint")
def command() -> None:
    """Sign what a log holds, so that whoever has the signature sees what was altered, removed or rolled back later."""


@command.command("key")
@click.argument("name")
@output_option
@json_option
def key_command(name: str, output: Path, *, as_json: bool) -> None:
    """Make a key that signs or cosigns checkpoints: the secret half in FILE, the public one in FILE.pub."""
    key = make_key(name, output)
    if as_json:
        said = {"key": str(key), "cosigner": str(key.cosigner), "secret_file": str(output)}
        document.write("checkpoint-key", [{**said, "public_file": str(public_file(output))}])
        return
    console.line(f"{key}")
    console.say(
        f"Wrote {output} (secret, keep it from the machine that records) and {public_file(output)} (hand it out)."
    )


@command.command("create")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), metavar="FILE", help="Where it goes.")
@click.option("--key", "secret", required=True, type=click.Path(path_type=Path), metavar="FILE", help="The secret key.")
@click.option("--every", metavar="DURATION", help="Again and again, for example every 1h, until Ctrl-C.")
@click.option("--force", is_flag=True, help="Sign although something does not verify; the checkpoint says so.")
@click.option("--jobs", type=whole(1), metavar="N", help="Processes that verify. [default: one a core]")
@db_option
@json_option
@click.pass_context
def create_command(
    ctx: click.Context,
    output: Path,
    secret: Path,
    every: str | None,
    jobs: int | None,
    db: str | None,
    *,
    force: bool,
    as_json: bool,
) -> None:
    """Verify what is new in a log and sign all of it: FILE, with every leaf in FILE.leaves."""
    if every is not None and as_json:
        raise UsageError("--every goes without --json.")
    pause_s = None if every is None else seconds_of(every)
    if pause_s is None:
        ctx.exit(_told(_created(db, secret, output, jobs, force=force), output, as_json=as_json))
    with _ctrl_c() as asked_to_stop:
        while not asked_to_stop.is_set():
            try:
                _told(_created(db, secret, output, jobs, force=force), output, as_json=False)
            except StoreError as error:  # a database that is away, or in somebody's hands: next time it may not be
                console.say(f"Not signed this time: {error}", style="error")
            asked_to_stop.wait(pause_s)
    raise KeyboardInterrupt


@contextmanager
def _ctrl_c() -> Iterator[threading.Event]:
    """Lend what the first Ctrl-C sets, so that what is being signed is finished; the second one interrupts."""
    stop = threading.Event()

    def heard(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            signal.default_int_handler(number, frame)
        stop.set()

    before = signal.signal(signal.SIGINT, heard)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def _created(db: str | None, secret: Path, output: Path, jobs: int | None, *, force: bool) -> Created | Refused:
    signer, store = read_signer(secret), open_store(database_url(db))
    try:
        with console.progress() as progress:
            return create(store, signer, output, force=force, jobs=jobs, told=partial(_show_progress, progress))
    finally:
        store.close()


def _show_progress(progress: console.Progress, done: int, total: int) -> None:
    progress.show("create", (f"{done:,} of {total:,} new episodes verified", "dim"))


def _told(made: Created | Refused, path: Path, *, as_json: bool) -> int:
    if isinstance(made, Refused):
        if as_json:
            document.write("checkpoint-create", [{**verified_item(one), "signed": False} for one in made.problems])
        else:
            show(made.problems)
        console.say(
            "Nothing was signed: this does not verify, and a checkpoint would make it look whole. Find out what "
            "happened; --force signs what is there and says so in the checkpoint.",
            style="error",
        )
        return 1
    point = made.checkpoint
    if as_json:
        document.write(
            "checkpoint-create",
            [
                {
                    "file": str(path),
                    "signed": True,
                    "origin": point.origin,
                    "size": point.size,
                    "root": point.root.hex(),
                    "at": point.at,
                    "added": made.added,
                    "leaves_bytes": made.leaves_bytes,
                    "seconds": f"{made.seconds:.3f}",
                    "not_verified": [one.episode for one in made.problems],
                }
            ],
        )
    else:
        console.line(
            f"Signed {point.size:,} leaves ({made.added:,} new) of {point.origin}, root "
            f"{point.root.hex()}, in {made.seconds:.1f} s: {path} and {checkpoint_files.leaves_file(path)} "
            f"({made.leaves_bytes:,} bytes). Keep both where who can write the database cannot."
        )
    return 0


@command.command("cosign")
@_file_argument
@click.option(
    "--key", "secret", required=True, type=click.Path(path_type=Path), metavar="FILE", help="Your secret key."
)
@click.option("--log-key", required=True, metavar="PUB", help="The log's public key, or the file that holds it.")
@click.option(
    "--after", type=click.Path(path_type=Path), metavar="OLD", help="An earlier checkpoint that it must follow."
)
@click.option(
    "--proof", type=click.Path(path_type=Path), metavar="F", help="Shows that, where FILE.leaves is not there."
)
@_origin_option
@click.option("--force", is_flag=True, help="Although it says that not all of the log verified when it was signed.")
@json_option
@click.pass_context
def cosign_command(
    ctx: click.Context,
    file: Path,
    secret: Path,
    log_key: str,
    after: Path | None,
    proof: Path | None,
    origin: str | None,
    *,
    force: bool,
    as_json: bool,
) -> None:
    """Add your signature to a checkpoint that goes on from the last one that you cosigned; no database is needed."""
    done = cosign(file, secret, read_key(log_key), after=after, proof=proof, origin=origin, force=force)
    if isinstance(done, Fork):
        if as_json:
            document.write("checkpoint-cosign", [{"file": str(file), "cosigned": False, "detail": done.detail}])
        console.say(f"Not cosigned: {done.detail}.", style="error")
        ctx.exit(1)
    point = done.held.checkpoint
    if as_json:
        said = {"file": str(file), "cosigned": True, "by": str(done.by), "time": done.time_s, "size": point.size}
        document.write("checkpoint-cosign", [{**said, "before": done.before, "root": point.root.hex()}])
        return
    since = "the first of this log" if done.before is None else f"after one of {done.before} leaves"
    console.line(f"Cosigned {file}: {point.size} leaves of {point.origin}, {since}. Your key: {done.by}")


@command.command("prove")
@click.argument("episode", required=False)
@click.option(
    "--checkpoint", "file", required=True, type=click.Path(path_type=Path), metavar="FILE", help="With FILE.leaves."
)
@click.option("--from", "old", type=click.Path(path_type=Path), metavar="OLD", help="Prove that FILE goes on from OLD.")
@output_option
@force_option
@json_option
def prove_command(
    episode: str | None, file: Path, old: Path | None, output: Path, *, force: bool, as_json: bool
) -> None:
    """Write a proof that an episode is in a checkpoint, or that one checkpoint goes on from another."""
    if (episode is None) == (old is None):
        raise UsageError("name an episode, or an earlier checkpoint with --from OLD; one of them.")
    try:
        held = checkpoint_files.read(file)
        before = None if old is None else checkpoint_files.read(old).checkpoint
    except BadNote as error:
        raise UsageError(f"this is no checkpoint: {error}.") from None
    if held.leaves is None:
        raise UsageError(f"a proof is made of all leaves, and {held.problem}.")
    proof: Proof
    if before is not None:
        if before.origin != held.checkpoint.origin or before.size > held.checkpoint.size:
            raise UsageError(f"{file} does not go on from {old}: it is of another log, or older.")
        proof = Consistency(before.size, merkle.consistency_proof(hashes(held.leaves), before.size), held.note)
        where = f"from {before.size} to {held.checkpoint.size} leaves"
    else:
        index = _place(held.leaves, episode or "")
        path = merkle.inclusion_proof(hashes(held.leaves), index)
        proof = Inclusion(held.leaves[index], index, path, held.note)
        where = f"leaf {index} of {held.checkpoint.size}"
    with new_file(output, force=force) as written:
        written.write(str(proof).encode())
    if as_json:
        document.write("checkpoint-prove", [{"file": str(output), "episode": episode, "what": where}])
    else:
        console.line(f"Wrote {output}: {where}, with the checkpoint; who has the key needs nothing else.")


def _place(leaves: tuple[bytes, ...], prefix: str) -> int:
    """Return the place of the newest leaf of the one episode whose id starts so."""
    named = {read_leaf(data).episode: place for place, data in enumerate(leaves)}
    found = [name for name in named if name.startswith(prefix)]
    if prefix in named:
        return named[prefix]
    if len(found) != 1:
        raise UsageError(f"{prefix!r} names {counted(len(found), 'episode')} of the checkpoint; one was expected.")
    return named[found[0]]


@command.command("verify")
@_file_argument
@_key_option
@click.option("--cosigner", "cosigners", multiple=True, metavar="PUB", help="Whose cosignature it must have too.")
@click.option("--proof", type=click.Path(path_type=Path), metavar="F", help="A proof to check against it.")
@_origin_option
@json_option
@click.pass_context
def verify_command(
    ctx: click.Context,
    file: Path,
    key: str,
    cosigners: tuple[str, ...],
    proof: Path | None,
    origin: str | None,
    *,
    as_json: bool,
) -> None:
    """Say whether a checkpoint is signed by a key, and what a proof proves with it; no database is needed."""
    public, others = read_key(key), [read_key(one) for one in cosigners]
    try:
        held = checkpoint_files.read(file)
    except BadNote as error:
        _answered(ctx, file, "unknown", f"this is no checkpoint that can be read: {error}", as_json=as_json)
        return
    missing = [] if signed_by(held.note, public) else [_named(public)]
    missing += [_named(one.cosigner) for one in others if cosigned_by(held.note, one) is None]
    if missing:
        _answered(ctx, file, "unknown", f"no signature that holds by {', '.join(missing)}", as_json=as_json)
    point = held.checkpoint
    if origin not in {None, point.origin}:
        _answered(ctx, file, "unknown", f"it is of another log: {point.origin}, not {origin}", as_json=as_json)
    said = f"{point.size} leaves of {point.origin}, root {point.root.hex()}"
    said += "".join(f"; {one.detail}" for one in forced(file.name, point))
    if held.leaves is None and checkpoint_files.leaves_file(file).is_file():
        _answered(ctx, file, "invalid", f"{said}; {held.problem}", as_json=as_json)
    if proof is not None:
        proved = check(read_proof(proof), public, held.note)
        _answered(ctx, proof, "valid" if proved.ok else "invalid", proved.detail, as_json=as_json)
    _answered(ctx, file, "valid", said, as_json=as_json)


def _named(key: Key) -> str:
    return f"{key.name}+{key.id.hex()}"


def _answered(ctx: click.Context, file: Path, result: str, detail: str, *, as_json: bool) -> None:
    if as_json:
        document.write("checkpoint-verify", [{"file": str(file), "result": result, "detail": detail}])
    else:
        console.line((result, "good" if result == "valid" else "bad"), f": {detail}")
    ctx.exit({"valid": 0, "invalid": 1}.get(result, _UNKNOWN))
