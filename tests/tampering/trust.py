"""A log and what its owner keeps elsewhere: the checkpoint and the key; and what `verify` says of a copy."""

import json
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from spectrace.cli import main

Item = dict[str, object]


@dataclass(frozen=True)
class Trusted:
    """The checkpoint's file, and the public key."""

    checkpoint: Path
    key: str

    @property
    def options(self) -> list[str]:
        return ["--checkpoint", str(self.checkpoint), "--key", self.key]


@dataclass(frozen=True)
class Answer:
    """What `verify --all` said."""

    code: int
    items: list[Item]
    said: str

    @property
    def named(self) -> dict[str, Item]:
        """What is not well: invalid, or (packed in a way that only a later spectrace could have meant) unknown."""
        return {str(item["episode"]): item for item in self.items if item["result"] in {"invalid", "unknown"}}

    @property
    def results(self) -> set[object]:
        return {item["result"] for item in self.items}


def verified(url: str, trusted: Trusted | None, *names: str) -> Answer:
    """Ask the command line about the whole log, or about those that are named."""
    options = [] if trusted is None else trusted.options
    result = CliRunner().invoke(main, ["verify", *(names or ["--all"]), "--db", url, *options, "--json"])
    items = json.loads(result.stdout)["items"] if result.stdout.strip() else []
    return Answer(result.exit_code, items, result.stderr)
