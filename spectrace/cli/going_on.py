"""A named run goes on where it stopped: which of its cells have their result, and whether it is still the same run.

A cell (task, trial, protocol) has its result once an episode of it went to an end that says something of the agent.
What was interrupted, failed by its infrastructure or could not be graded is run again; the earlier episode stays, and
reports call it superseded. The same name with another option, model, prompt or seed, or with an environment that has
other tools, effects, instructions or data now, would make one table of two: refused before anything is recorded.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from spectrace.audit.answers import EpisodeSummary, Filters
from spectrace.audit.batches import kind_of
from spectrace.audit.queries import Reader
from spectrace.audit.results import has_result
from spectrace.audit.surroundings import Begun, differences, disagreement
from spectrace.config import BUILTIN_ENVIRONMENTS
from spectrace.core.digest import text_digest
from spectrace.core.events import EpisodeStarted, GenerateCompleted, GenerateRequested
from spectrace.core.money import Rates, rates_by_model
from spectrace.core.options import recorded_options
from spectrace.core.prompts import Prompts
from spectrace.core.types import Task
from spectrace.environments.environment import Environment
from spectrace.errors import EnvironmentFailed, UsageError
from spectrace.runs.live import EpisodeProtocol, Labels, options_of, started
from spectrace.runs.purse import most
from spectrace.settings import Settings
from spectrace.store import runs
from spectrace.store.asked import Grid, Key
from spectrace.store.projections import storable
from spectrace.store.sql import SqlEventStore

_OUTSIDE = frozenset({"url", "key_env", "key_file", "timeout_s"})
"""Where a model is reached, not what it is: a run may go on with another server."""
_NAMED = 5


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
        """Raise UsageError where the environment of an episode that is about to begin is no longer the recorded one."""
        before = self.begun.get(storable(started.task.id))
        found = [] if before is None else differences(before, started)
        if found:
            raise UsageError(_elsewhere(str(started.run), {started.task.id: found}))


Offered = Callable[[str], EpisodeStarted | None]
"""How an episode of a task, by its storable id, would begin now; None where the environment does not offer it."""


def offered(open_environment: Callable[[], Environment], protocol: EpisodeProtocol) -> Offered:
    """Return a function that prepares a task in a fresh environment and records nothing."""
    tasks: dict[str, Task] = {}

    def begins(task: str) -> EpisodeStarted | None:
        environment = open_environment()
        try:
            if not tasks:
                tasks.update((storable(one.id), one) for one in environment.tasks())
            return started(environment, tasks[task], protocol, Prompts(), (), Labels()) if task in tasks else None
        except EnvironmentFailed:
            return None  # the episode itself says so: it is not recorded either
        finally:
            asyncio.run(environment.close())

    return begins


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


def go_on(store: SqlEventStore, name: str, wanted: Spec, asked: Grid, offers: Offered) -> Before:
    """Begin the run, or go on with it, and keep what it is asked for; return what it has recorded.

    Raise UsageError, saying what differs, where the name stands for another run or the environment is another one.
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
            differ += _option_differences(protocol, recorded_options(started.options) or {}, wanted.options[protocol])
        if known is None and isinstance(started, EpisodeStarted):
            differ += _another_environment(started.environment.name, wanted.env)
    if differ:
        raise UsageError(
            f"run {name!r} was begun with another {'; another '.join(dict.fromkeys(differ))}. "
            "Go on with what it was begun with, or give another --name."
        )
    begun = _begun(reader, recorded)
    _require_same_environment(name, begun, asked, offers)
    if known is None:
        runs.begin(store, name, "run", (), wanted.to_json())
    runs.ask(store, name, asked)
    first = {storable(body.task.id): body for _, body in reversed(begun)}
    return Before(_results(store, recorded), sum(_spent(reader, one) for one in recorded), first)


def _begun(reader: Reader, recorded: Sequence[EpisodeSummary]) -> list[Begun]:
    """Return how each episode began, oldest first."""
    found = [(one.episode, reader.first(one.episode).body) for one in recorded]
    return [(episode, body) for episode, body in found if isinstance(body, EpisodeStarted)]


def _require_same_environment(name: str, begun: Sequence[Begun], asked: Grid, offers: Offered) -> None:
    """Raise UsageError, before anything is recorded, where the run's episodes met another environment than is here."""
    tasks: dict[str, list[Begun]] = {}
    for one in begun:
        tasks.setdefault(storable(one[1].task.id), []).append(one)
    apart = next((said for each in tasks.values() if (said := disagreement(each))), None)
    if apart is not None:
        raise UsageError(f"run {name!r} cannot go on: {apart}. Give another --name.")
    wanted = [task for task in map(storable, asked.tasks) if task in tasks]
    found: dict[str, list[str]] = {}
    for task in wanted or list(tasks)[:1]:  # tasks that are all new: one that is there stands for the environment
        now = offers(task)
        if now is not None and (differ := differences(tasks[task][0][1], now)):
            found[task] = differ
    if found:
        raise UsageError(_elsewhere(name, found, disagreement(begun)))


def _elsewhere(run: str, found: Mapping[str, Sequence[str]], apart: str | None = None) -> str:
    """Say what differs, all tasks that differ alike together."""
    alike: dict[str, list[str]] = {}
    for task, differ in found.items():
        alike.setdefault("; ".join(differ), []).append(task)
    said = [f"of {_named(tasks)}: {differ}" for differ, tasks in alike.items()]
    mixed = "" if apart is None else f" Already {apart}."
    return (
        f"run {run!r} was begun with another environment of the same name. What differs, {'. And '.join(said)}.{mixed} "
        "Go on with what it was begun with, or give another --name."
    )


def _named(tasks: Sequence[str]) -> str:
    more = f" and {len(tasks) - _NAMED} more" if len(tasks) > _NAMED else ""
    return f"{'task' if len(tasks) == 1 else 'tasks'} {', '.join(map(repr, tasks[:_NAMED]))}{more}"


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


def _results(store: SqlEventStore, recorded: Sequence[EpisodeSummary]) -> dict[Key, EpisodeSummary]:
    """Return the first result of each cell: a later one must not replace it, or one could choose."""
    found: dict[Key, EpisodeSummary] = {}
    for one in recorded:
        key = (one.task, one.trial, one.protocol)
        if key not in found and (one.status == "running" or has_result(store, one)):
            found[key] = one
    return found


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
