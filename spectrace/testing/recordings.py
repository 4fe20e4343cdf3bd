"""The recording of one test: a bundle beside it, made by a live run on request and replayed ever after.

What a test runs is compared with what was recorded (task, protocol, options, prompts, tools, instructions), then the
episode is replayed; whatever is not the same is a Mismatch with the report. A recording that is missing, empty, damaged
or of another test is a Mismatch too: nothing is ever run in its place, and no file is replaced unasked.
"""

import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from spectrace import library
from spectrace.audit.queries import open_reader
from spectrace.config import model_named, open_environment
from spectrace.core.compare import differences
from spectrace.core.events import EpisodeStarted, Event
from spectrace.core.prompts import Prompts
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import ModelFacts, Task
from spectrace.environments.environment import Environment
from spectrace.errors import SpectraceError, StoreError
from spectrace.models.client import ModelClient
from spectrace.runs.live import EpisodeProtocol, Labels, Prices, options_of
from spectrace.runs.preflight import check
from spectrace.runs.replay import replay_episode
from spectrace.runs.sources import Limits
from spectrace.store.bundle import pack
from spectrace.store.bundle_reader import is_zip
from spectrace.store.sql import open_store
from spectrace.testing.agent_run import AgentRun
from spectrace.testing.loop import in_a_loop
from spectrace.testing.telling import changes, divergence

TEST, CALL = "spectrace.test", "spectrace.call"
"""Labels of a recorded episode: which test it belongs to, and which of its runs it is."""
ANEW = "pytest --spectrace-record"
_ANEW = f"`{ANEW}` runs it live and records it anew."


class Mismatch(AssertionError):
    """What a test runs and its recording do not fit; the text is the report."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One run that a test asks for."""

    task: Task | str
    env: Environment | str
    models: Mapping[str, ModelClient | str | None]
    protocol: EpisodeProtocol
    prompts: Prompts | None
    labels: Labels
    limits: Limits | None
    prices: Prices | None


class Source(Protocol):
    """Where the runs of a test come from: its recording, or a live agent."""

    def run(self, asked: Asked) -> AgentRun:
        """Run one episode, or replay it."""
        ...

    def end(self, *, passed: bool) -> None:
        """Say that the test is over; raise Mismatch where it did not run all that was recorded."""
        ...


class Runs:
    """What the fixture gives to a test: called as `spectrace.run` is, it returns what the agent did."""

    def __init__(self, source: Source) -> None:
        """Run live or replay, as `source` does."""
        self._source = source

    def __call__(  # noqa: PLR0913 - an episode's parts, by name
        self,
        task: Task | str,
        env: Environment | str,
        weak: ModelClient | str | None = None,
        strong: ModelClient | str | None = None,
        protocol: EpisodeProtocol | None = None,
        *,
        user: ModelClient | str | None = None,
        prompts: Prompts | None = None,
        labels: Labels | None = None,
        limits: Limits | None = None,
        prices: Prices | None = None,
    ) -> AgentRun:
        """Run one episode of the agent; from the recording unless pytest was told to record."""
        models = {"weak": weak, "strong": strong, "user": user}
        chosen = protocol or SpecAgent()
        return self._source.run(Asked(task, env, models, chosen, prompts, labels or Labels(), limits, prices))


@dataclass
class Replaying:
    """Answers the runs of one test from its recording, in order."""

    path: Path
    test: str
    used: int = 0
    _episodes: list[list[Event]] | None = None

    def run(self, asked: Asked) -> AgentRun:
        """Compare the run with the next recorded episode, then replay that."""
        episodes = self._recorded()
        if self.used >= len(episodes):
            raise Mismatch(
                f"{self.path} holds {len(episodes)} runs, and this is run {self.used + 1} of the test. {_ANEW}"
            )
        events = episodes[self.used]
        self.used += 1
        started = events[0].body
        if not isinstance(started, EpisodeStarted):
            raise Mismatch(f"{self.path}: run {self.used} does not begin with an episode.started of a known version.")
        options = json.loads(options_of(asked.protocol))
        self._require_the_same(started, events, asked, options)
        result = in_a_loop(replay_episode(events, prompts=asked.prompts, options=options))
        if result.result != "same":
            raise Mismatch(
                f"run {self.used} of the test is not what {self.path} holds.\n\n{divergence(result)}\n\n{_ANEW}"
            )
        return AgentRun.of(events, replayed=True)

    def end(self, *, passed: bool) -> None:
        """Insist that a test that passed has run all that was recorded for it."""
        if passed and self.path.exists() and self.used < len(self._recorded()):
            recorded = len(self._recorded())
            raise Mismatch(f"{self.path} holds {recorded} runs, and the test asked for {self.used}. {_ANEW}")

    def _recorded(self) -> list[list[Event]]:
        if self._episodes is None:
            self._episodes = _read(self.path, self.test)
        return self._episodes

    def _require_the_same(
        self, started: EpisodeStarted, events: list[Event], asked: Asked, options: Mapping[str, object]
    ) -> None:
        """Insist that what would be run now is what was recorded. Of the environment nothing is run."""
        where = f"run {self.used} of the test is not what {self.path} holds."
        if started.protocol != asked.protocol.NAME:
            raise Mismatch(f"{where} It was recorded with {started.protocol}, now {asked.protocol.NAME} runs. {_ANEW}")
        for role, spec in asked.models.items():  # one that is given as an object says its name to a run only
            was = next((one for one in started.models if one.role == role), None)
            if isinstance(spec, str) and was is not None and not _is_named(spec, was):
                raise Mismatch(f"{where} Its {role} model was {was.provider}:{was.name}, now it is {spec}. {_ANEW}")
        environment = open_environment(asked.env) if isinstance(asked.env, str) else asked.env
        try:
            task = _task(environment, asked.task)
            checked = check(events, environment=environment, prompts=asked.prompts, options=options)
        finally:
            if isinstance(asked.env, str):
                in_a_loop(environment.close())
        for path, recorded, found in differences(started.task, task, "/task"):
            raise Mismatch(f"{where}\n\n  task  {path}\n    recorded  {recorded}\n    now       {found}\n\n{_ANEW}")
        if checked.result != "same":
            raise Mismatch(f"{where}\n\n{changes(events[0].episode, checked)}\n\n{_ANEW}")


@dataclass
class Recording:
    """Runs live into a database of its own, and makes the recording of it once the test has passed."""

    path: Path
    test: str
    database: Path
    episodes: list[str] = field(default_factory=list)
    kept: bool = False

    def run(self, asked: Asked) -> AgentRun:
        """Run live."""
        self._require_ours()
        labels = (*asked.labels.labels, (TEST, self.test), (CALL, str(len(self.episodes) + 1)))
        with closing(open_store(str(self.database))) as store:
            recorded = in_a_loop(
                library.run(
                    asked.task,
                    _fresh(asked.env),
                    asked.models["weak"],
                    asked.models["strong"],
                    asked.protocol,
                    store,
                    user=asked.models["user"],
                    prompts=asked.prompts,
                    labels=replace(asked.labels, labels=labels),
                    limits=asked.limits,
                    prices=asked.prices,
                )
            )
            self.episodes.append(recorded.episode)
            events = list(store.read(recorded.episode))
        again = in_a_loop(replay_episode(events))
        if again.result != "same":
            raise Mismatch(f"what was recorded just now does not replay the same.\n\n{divergence(again)}")
        return AgentRun.of(events, replayed=False)

    def end(self, *, passed: bool) -> None:
        """Put the recording in its place, if the test has passed: a good one is not replaced by one that fails."""
        if not passed or not self.episodes:
            return
        self._require_ours()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with closing(open_store(str(self.database), read_only=True)) as store:
            pack(store, self.episodes, self.path, force=True)
        self.kept = True

    def _require_ours(self) -> None:
        """Insist that nothing but a recording is replaced."""
        if self.path.exists() and self.path.stat().st_size and not is_zip(self.path):
            raise Mismatch(f"{self.path} is there and is no recording: remove it, or name another with recording=.")


def _read(path: Path, test: str) -> list[list[Event]]:
    """Return the recorded episodes of a test, in the order in which it ran them."""
    if not path.exists():
        raise Mismatch(f"there is no recording {path}. `{ANEW}` runs the test live and makes it.")
    if path.stat().st_size == 0:
        raise Mismatch(f"the recording {path} is empty: 0 bytes. Nothing was run. {_ANEW}")
    try:
        with open_reader(str(path)) as reader:
            episodes = [reader.events(one.episode) for one in reader.iter_episodes()]
    except SpectraceError as error:
        raise Mismatch(f"the recording {path} cannot be read. Nothing was run. {error} {_ANEW}") from error
    except OSError as error:
        raise StoreError(f"the recording {path} cannot be read: {error.strerror}.") from error
    labels = [dict(getattr(events[0].body, "labels", ())) for events in episodes]
    others = sorted({of.get(TEST, "no test at all") for of in labels} - {test})
    if others or not episodes:
        raise Mismatch(
            f"the recording {path} is of {', '.join(others) or 'nothing'}; this test is {test}. Nothing was run. "
            f"Name the right one with recording=, or {_ANEW}"
        )
    by_call = {of.get(CALL, ""): events for of, events in zip(labels, episodes, strict=True)}
    numbers = [str(number) for number in range(1, len(episodes) + 1)]
    if set(by_call) != set(numbers):
        raise Mismatch(f"the recording {path} lacks some of the test's runs. Nothing was run. {_ANEW}")
    return [by_call[number] for number in numbers]


def _is_named(spec: str, was: ModelFacts) -> bool:
    """Whether a model is asked for by the recorded name; a script by that of its file, for it may name itself."""
    provider, name = model_named(spec) or ("", "")
    script = json.loads(was.server).get("script")
    if provider == was.provider == "scripted" and script is not None:
        return Path(name.partition("#")[0]).name == str(script)
    return (provider, name) == (was.provider, was.name)


def _task(environment: Environment, asked: Task | str) -> Task:
    """Return the task as it would be recorded."""
    if not isinstance(asked, str):
        return Task(asked.id, asked.request, asked.data)
    tasks = {task.id: task for task in environment.tasks()}
    if asked not in tasks:
        raise Mismatch(f"no task is named {asked!r}; there are {', '.join(tasks) or 'none'}.")
    return tasks[asked]


def _fresh(env: Environment | str) -> Environment | str:
    """Return an instance that nobody has used, where one can be had: a run closes its own."""
    fresh = getattr(env, "fresh", None)
    made: Environment | str = fresh() if callable(fresh) else env
    return made
