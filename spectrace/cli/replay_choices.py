"""What `spectrace replay` was asked to do: who answers, what may differ, and what goes with what.

A contradiction is refused before anything is read; nothing that was given is without effect.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from spectrace.core.observation_classes import PASSABLE
from spectrace.core.options import types_of
from spectrace.core.protocols import PROTOCOLS
from spectrace.errors import UsageError
from spectrace.runs.reexecution import Passing, passing_of
from spectrace.settings import meant

RECORDED, LIVE, CACHED = "recorded", "live", "cached"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The options as they were typed."""

    tools: str | None = None
    models: str = RECORDED
    check: bool = False
    env: str | None = None
    frozen: bool = False
    lenient: bool = False
    accept: str | None = None
    volatile: Sequence[str] = ()
    weak: str | None = None
    strong: str | None = None
    max_cost_usd: str | None = None
    concurrency: int | None = None
    options: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Mode:
    """What is done: from the record (neither), with a fresh environment, or with live models."""

    tools: bool
    models: bool
    passing: Passing


def mode_of(given: Given) -> Mode:
    """Return what is to be done; raise UsageError for a contradiction, or an option that would do nothing."""
    tools, models = given.tools == LIVE, given.models == LIVE
    if tools and models:
        raise UsageError(
            "--tools live with --models live is a new run, not a replay: `spectrace fork EP:0` records one that names "
            "its parent."
        )
    if models and given.tools == RECORDED:
        raise UsageError("--models live asks other questions than the record holds: it goes with --tools cached.")
    if given.tools == CACHED and not models:
        raise UsageError("--tools cached is for --models live: a replay from the record has its answers there.")
    if given.check and (tools or models):
        raise UsageError(f"--check runs nothing, and {'--tools' if tools else '--models'} live does: give one of them.")
    _require_effect(given, tools=tools, models=models)
    for text in given.options:
        _require_known(text)
    return Mode(tools, models, _passing(given))


def _require_effect(given: Given, *, tools: bool, models: bool) -> None:
    """Refuse what has no effect on what is asked for."""
    needs = (
        (given.env is not None, tools or given.check, "--env", "--tools live and --check", "reaches no environment"),
        (given.frozen, tools or given.check, "--frozen", "--tools live and --check", "has the recorded tools anyway"),
        (given.accept is not None, tools, "--accept", "--tools live", "observes nothing anew"),
        (bool(given.volatile), tools, "--volatile", "--tools live", "observes nothing anew"),
        (given.lenient, tools or models, "--lenient", "--tools live and --models live", "differs in nothing harmless"),
        (given.weak is not None, models, "--weak", "--models live", "asks no model"),
        (given.strong is not None, models, "--strong", "--models live", "asks no model"),
        (given.max_cost_usd is not None, models, "--max-cost-usd", "--models live", "costs nothing"),
        (given.concurrency is not None, models, "--concurrency", "--models live", "waits for nobody"),
    )
    for was_given, has_effect, name, where, otherwise in needs:
        if was_given and not has_effect:
            raise UsageError(f"{name} is for {where}: this replay {otherwise}.")
    if given.lenient and given.accept is not None:
        raise UsageError(f"--lenient accepts every class that --accept can name ({', '.join(PASSABLE)}): give one.")


def _require_known(text: str) -> None:
    """Raise UsageError for an option that no protocol has."""
    known = sorted({name for one in PROTOCOLS.values() for name in types_of(one)})
    key, equals, _ = text.partition("=")
    if not equals or key not in known:
        raise UsageError(f"-o takes KEY=VALUE with an option's name, found {text!r}{meant(key, known)}.")


def _passing(given: Given) -> Passing:
    named = [part.strip() for part in (given.accept or "").split(",") if part.strip()]
    return passing_of(PASSABLE if given.lenient else named, given.volatile)
