"""A named run goes on where it stopped: which of its cells have their result, and whether it is still the same run.

A cell (task, trial, protocol) has its result once an episode of it went to an end that says something of the agent.
What was interrupted, failed by its infrastructure or could not be graded is run again; the earlier episode stays, and
reports call it superseded. The same name with another environment, option, model, prompt or seed, or with other data
under a task's name, would make one table of two: refused.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from spectrace.audit.answers import EpisodeSummary, Filters
from spectrace.audit.batches import kind_of
from spectrace.audit.queries import Reader
from spectrace.config import BUILTIN_ENVIRONMENTS
from spectrace.core.digest import text_digest
from spectrace.core.endings import infrastructure
from spectrace.core.events import EpisodeStarted, EvaluateFailed, GenerateCompleted, GenerateRequested
from spectrace.core.money import Rates, rates_by_model
from spectrace.core.prompts import Prompts
from spectrace.errors import UsageError
from spectrace.runs.live import EpisodeProtocol, options_of
from spectrace.runs.purse import most
from spectrace.settings import Settings
from spectrace.store import runs
from spectrace.store.asked import Grid, Key
from spectrace.store.projections import storable
from spectrace.store.sql import SqlEventStore

_OUTSIDE = frozenset({"url", "key_env", "key_file", "timeout_s"})
"""Where a model is reached, not what it is: a run may go on with another server."""


@dataclass(frozen=True, slots=True)
class Before:
    """What a run of that name has recorded before this command."""

    results: Mapping[Key, EpisodeSummary] = field(default_factory=dict)
    """The cells that have their result, or are running elsewhere."""
    micro_usd: int = 0
    """The most that all can have cost, superseded episodes included."""
    begun: Mapping[str, EpisodeStarted] = field(default_factory=dict)
    """Task -> how its first episode began."""

    def admit(self, started: EpisodeStarted) -> None:
        """Raise UsageError where an episode that is about to begin has other data than the first one of its task."""
        before = self.begun.get(storable(started.task.id))
        if before is None or (before.task_digest, before.environment.data) == (
            started.task_digest,
            started.environment.data,
        ):
            return
        what = "task" if before.task_digest != started.task_digest else "data of the environment"
        raise UsageError(
            f"run {started.run!r} has episodes of the task {started.task.id!r} already, and the {what} is another one "
            "now under the same name. Go on with what it was begun with, or give another --name."
        )


@dataclass(frozen=True, slots=True)
class Spec:
    """What makes a run the same run. Tasks, trials and protocols may be added to it."""

    env: str
    models: Mapping[str, str]
    prompts: str
    """Their digest."""
    seed: int | None
    options: Mapping[str, Mapping[str, object]]
    """Protocol -> its options."""

    def to_json(self) -> str:
        """Return what is stored with the run."""
        fixed = {"env": self.env, "models": dict(self.models), "prompts": self.prompts, "seed": self.seed}
        return json.dumps(fixed | {"options": {name: dict(one) for name, one in self.options.items()}}, sort_keys=True)


def spec(
    env: str,
    protocols: Sequence[EpisodeProtocol],
    models: Mapping[str, str],
    prompts: Prompts | None,
    seed: int | None,
    settings: Settings,
) -> Spec:
    """Return the spec of a run; `models` are the names as they were given, by role."""
    return Spec(
        env,
        {role: _identity(name, settings) for role, name in models.items()},
        text_digest((prompts or Prompts()).to_json()),
        seed,
        {protocol.NAME: json.loads(options_of(protocol)) for protocol in protocols},
    )


def _identity(name: str, settings: Settings) -> str:
    table = settings.models.get(name)
    if table is None:
        return name.partition("@http")[0]
    kept = {key: value for key, value in table.items() if key not in _OUTSIDE}
    rest = {key: value for key, value in kept.items() if key not in {"provider", "name"}}
    return f"{kept.get('provider')}:{kept.get('name')}" + (f" {json.dumps(rest, sort_keys=True)}" if rest else "")


def go_on(store: SqlEventStore, name: str, wanted: Spec, asked: Grid) -> Before:
    """Begin the run, or go on with it, and keep what it is asked for; return what it has recorded.

    Raise UsageError, saying what differs, where the name stands for another run.
    """
    reader = Reader(store)
    recorded = reader.episodes(Filters(run=(name,), sort="started_at"))
    foreign = next((one for one in recorded if kind_of(one) != "run"), None)
    if foreign is not None:
        raise UsageError(f"run {name!r} is a {kind_of(foreign)} ({foreign.episode}, ...): give another --name.")
    known = {run.name: run for run in runs.every(store)}.get(name)
    differ = [] if known is None else _differences(json.loads(known.settings), wanted)
    for protocol, episode in {one.protocol: one.episode for one in recorded}.items():
        started = reader.first(episode).body
        if isinstance(started, EpisodeStarted) and protocol in wanted.options:
            differ += _option_differences(protocol, json.loads(started.options), wanted.options[protocol])
        if known is None and isinstance(started, EpisodeStarted):
            differ += _another_environment(started.environment.name, wanted.env)
    if differ:
        raise UsageError(
            f"run {name!r} was begun with another {'; another '.join(dict.fromkeys(differ))}. "
            "Go on with what it was begun with, or give another --name."
        )
    if known is None:
        runs.begin(store, name, "run", (), wanted.to_json())
    runs.ask(store, name, asked)
    return Before(
        _results(reader, recorded), sum(_spent(reader, one) for one in recorded), _begun(reader, recorded, asked)
    )


def _begun(reader: Reader, recorded: Sequence[EpisodeSummary], asked: Grid) -> dict[str, EpisodeStarted]:
    """Return how the first episode of each task that is asked for began."""
    tasks = {storable(task) for task in asked.tasks}
    first = {one.task: one.episode for one in reversed(recorded) if one.task in tasks}
    found = {task: reader.first(episode).body for task, episode in first.items()}
    return {task: body for task, body in found.items() if isinstance(body, EpisodeStarted)}


def _spent(reader: Reader, one: EpisodeSummary) -> int:
    """Return the most that an episode's calls can have cost, as its purse counted; what nobody counted is left out."""
    if one.cost_usd is not None:
        return round(Decimal(one.cost_usd) * 1_000_000)
    total, rates, asked = 0, dict[str, Rates | None](), dict[int, str]()
    for event in reader.events(one.episode, prompts=False):
        match event.body:
            case EpisodeStarted() as body:
                rates = dict(rates_by_model(body))
            case GenerateRequested(who=who):
                asked[event.seq] = who
            case GenerateCompleted(request=request, source="live", usage=usage):
                total += most(rates.get(asked.get(request, "")), usage) or 0
            case _:
                pass
    return total


def _results(reader: Reader, recorded: Sequence[EpisodeSummary]) -> dict[Key, EpisodeSummary]:
    """Return the first result of each cell: a later one must not replace it, or one could choose."""
    found: dict[Key, EpisodeSummary] = {}
    for one in recorded:
        key = (one.task, one.trial, one.protocol)
        stands = one.status == "running" or not infrastructure(one.status, one.end_reason)
        if key not in found and stands and not _ungraded(reader, one):
            found[key] = one
    return found


def _ungraded(reader: Reader, one: EpisodeSummary) -> bool:
    """Whether a grade was asked for and failed; an environment that grades nothing asks for none."""
    if one.status != "completed" or one.reward is not None:
        return False
    last = reader.events(one.episode, max(0, one.events - 2), prompts=False)  # it is graded last
    return any(isinstance(event.body, EvaluateFailed) for event in last)


def _another_environment(own: str, given: str) -> list[str]:
    """Compare an environment's own name, all that a recording tells of it, with the one given on the command line.

    Only our own go by the same name in both; one named as MODULE:ATTRIBUTE calls itself what it likes.
    """
    return [f"env {own}, now {given}"] if own != given and {own, given} & set(BUILTIN_ENVIRONMENTS) else []


def _differences(begun: Mapping[str, object], wanted: Spec) -> list[str]:
    now = json.loads(wanted.to_json())
    found = [f"{name} {begun.get(name)}, now {now[name]}" for name in ("env", "seed") if begun.get(name) != now[name]]
    if begun.get("prompts") != now["prompts"]:
        found.append("set of prompts")
    models, options = _table(begun.get("models")), _table(begun.get("options"))
    found += [
        f"{role} model {models[role]}, now {model}"
        for role, model in wanted.models.items()
        if role in models and models[role] != model
    ]
    for protocol, given in wanted.options.items():
        if protocol in options:
            found += _option_differences(protocol, _table(options[protocol]), given)
    return found


def _option_differences(protocol: str, begun: Mapping[str, object], wanted: Mapping[str, object]) -> list[str]:
    return [
        f"option {name} of {protocol} ({_shown(begun.get(name))}, now {_shown(wanted.get(name))})"
        for name in sorted({*begun, *wanted})
        if begun.get(name) != wanted.get(name)
    ]


def _shown(value: object) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}
