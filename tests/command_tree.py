"""Every command, from the click tree itself, and what it does to a log: a new command must be classed here.

A reading command has lines to run it with, in which {EP} is an episode with a rejection and an accepted write, {RUN}
its run, {AGAIN} a run that judged it again, {CALL} a model call in it, {SEQ} each of its events in turn, and {OUT} a
folder to write into.
"""

from collections.abc import Iterator, Mapping

import click

from spectrace.cli import main

Path = tuple[str, ...]

READING: Mapping[str, tuple[str, ...]] = {
    "ls": ("ls", "ls --grep a --status completed --limit 1", "ls --sort steps"),
    "show": (
        "show {EP}",
        "show {EP} --follow",
        "show {EP} --stored",
        "show {EP}:{SEQ}",
        "show {EP}:{CALL} --as prompt",
    ),
    "why": ("why {EP}",),
    "rejections": ("rejections", "rejections --by category,tool,env,cause"),
    "cost": ("cost {EP}", "cost --all", "cost {EP} --reference {RUN}"),
    "replay": (
        "replay {EP}",
        "replay {EP} --check",
        "replay {EP} --tools live",
    ),
    "runs": ("runs", "runs {RUN}", "runs {AGAIN}"),
    "compare": ("compare {AGAIN}", "compare {AGAIN} --format csv", "compare {AGAIN} --format md"),
    "audit actions": ("audit actions", "audit actions --csv", "audit actions {EP} --events"),
    "audit unreviewed": ("audit unreviewed",),
    "audit unknowns": ("audit unknowns",),
    "audit violations": ("audit violations", "audit violations {EP}"),
    "audit reconcile": ("audit reconcile --with {OUT}/theirs.csv",),
    "audit report": ("audit report -o {OUT}/report.html --force",),
    "verify": ("verify {EP}", "verify --all"),
    "scan-secrets": ("scan-secrets",),
    "export": ("export openai {EP} -o {OUT}/chat.json --force", "export jsonl --all -o {OUT}/log.jsonl --force"),
    "pack": ("pack {EP} -o {OUT}/bundle.zip --force",),
    "db check": ("db check",),
    "db stats": ("db stats",),
    "doctor": ("doctor",),
}
"""Commands that read a log, and open it read-only."""

WRITING = {
    *("run", "fork", "resume", "recover", "reverify", "worker", "audit settle", "erase"),
    *("import jsonl", "import openai", "import tau2", "unpack"),
    *("db copy", "db grants", "db rebuild", "db restore", "db upgrade"),
    *("checkpoint key", "checkpoint create", "checkpoint cosign"),
}
"""Commands that change a log, or what lies beside it."""

ELSEWHERE = {
    "init": "writes settings, reads no log",
    "schema": "reads no log",
    "conformance": "fills an empty database of its own",
    "demo": "records a log of its own",
    "view": "serves until it is ended: tests/viewer",
    "checkpoint prove": "reads a checkpoint too: its own tests",
    "checkpoint verify": "the same",
}


def commands() -> Iterator[str]:
    """Yield every command, as it is typed."""
    return _below(main, (), click.Context(main))


def _below(command: click.Command, path: Path, context: click.Context) -> Iterator[str]:
    if not isinstance(command, click.Group):
        yield " ".join(path)
        return
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None
        yield from _below(below, (*path, name), click.Context(below, parent=context, info_name=name))


def lines(seqs: int, **names: str) -> list[list[str]]:
    """Return all reading command lines as arguments, for a log with these names; one for each event of {SEQ}."""
    return [
        [part.format(**names, SEQ=seq) for part in text.split()]
        for texts in READING.values()
        for text in texts
        for seq in (range(seqs) if "{SEQ}" in text else (0,))
    ]
