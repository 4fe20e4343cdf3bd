"""Progress of live episodes: what each one is doing right now, in one line that changes."""

import time
from collections.abc import Callable

from spectrace.audit.lines import action_text, counted
from spectrace.cli.console import Progress
from spectrace.core.endings import infrastructure
from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    ActRequested,
    Body,
    ControlPassed,
    EpisodeEnded,
    EpisodeStarted,
    EvaluateFailed,
    EvaluateRequested,
    GenerateCompleted,
    GenerateFailed,
    GenerateRequested,
    PlanMade,
    ProgressJudged,
    RepairMade,
    ResetFailed,
    ResetRequested,
    SpeculationMatched,
    StepDrafted,
    VerdictGiven,
)
from spectrace.runs.batch import NotRecorded
from spectrace.runs.live import Recorded

_MEGABYTE = 10**6
_TALLY = "tally"
WEIGHTS = "weights"
"""The line of weights being fetched."""


class EpisodeWatch:
    """A Watcher for `record`: told of every event as it is written."""

    def __init__(self, progress: Progress, total: int, *, protocols: bool = False) -> None:
        """Show `total` episodes; with `protocols`, of several: each is named with its own."""
        self._progress = progress
        self._total = total
        self._protocols = protocols
        self._done = 0
        self._begun = time.monotonic()
        self._tasks: dict[str, str] = {}
        self._begun_episodes = 0
        self.errors: dict[str, str] = {}
        """Episode -> the last failure that nothing followed: what an episode that failed ended of."""
        self.ungraded: set[str] = set()
        """Episodes whose grader failed: they ended as their models ended them, and have no reward."""

    def __call__(self, episode: str, seq: int, body: Body) -> None:
        """Change the episode's line."""
        match body:
            case EpisodeStarted(task=task, trial=trial, protocol=protocol):
                self._progress.drop(WEIGHTS)
                self._begun_episodes += 1
                self._tasks[episode] = self._name(task.id, trial, protocol)
                self._tally()
                self._progress.note(f"{episode}  {self._tasks[episode]}  begins", "dim")
            case EpisodeEnded():
                self._progress.drop(episode)
                return
            case GenerateCompleted() | ActCompleted():
                self.errors.pop(episode, None)
            case EvaluateFailed(error=error):
                self.errors[episode] = error
                self.ungraded.add(episode)
            case GenerateFailed(error=error) | ActFailed(error=error) | ResetFailed(error=error):
                self.errors[episode] = error
            case _:
                pass
        doing = _doing(body)
        if doing is not None:
            name = self._tasks.get(episode, "")
            self._progress.show(episode, (episode, "name"), f"  {name}  event {seq}  ", (doing, "strong"))

    def ended(self, one: Recorded | NotRecorded) -> None:
        """Say how an episode ended."""
        self._done += 1
        self._tally()
        count = f"{self._done} of {self._total}"
        name = self._name(one.task, one.trial, one.protocol)
        if isinstance(one, NotRecorded):
            self._progress.note(f"{name}  not recorded  [{count}]", "bad")
            return
        self._tasks.pop(one.episode, None)
        left_out = one.outcome.reward is None or infrastructure(one.outcome.status, one.outcome.reason)
        reward = "" if left_out else f", reward {one.outcome.reward}"
        error = self.error(one)
        style = "good" if one.outcome.status == "completed" and error is None else "warning"
        took = round(time.monotonic() - self._begun)
        said = f"{one.outcome.status} ({one.outcome.reason}){reward}"
        self._progress.note(f"{one.episode}  {name}  {said}  [{count}, {took} s]", style)
        if error is not None:
            what = "not graded" if one.episode in self.ungraded else one.outcome.status
            self._progress.note(f"{one.episode}  {name}  {what}: {error}", "error")

    def _name(self, task: str, trial: int, protocol: str) -> str:
        return f"{task}{f' #{trial}' if trial else ''}{f' ({protocol})' if self._protocols else ''}"

    def _tally(self) -> None:
        """Show how far the whole is, while there is more than one episode to it and some are left."""
        if self._done >= self._total:
            self._progress.drop(_TALLY)
        elif self._total > 1:
            took = round(time.monotonic() - self._begun)
            self._progress.show(_TALLY, (f"{self._done} of {self._total} ended", "strong"), f"  {took} s")

    def error(self, one: Recorded | NotRecorded) -> str | None:
        """Return why an episode failed, was not graded or was not recorded, in its last error's words."""
        if isinstance(one, NotRecorded):
            return str(one.error)
        failed = one.outcome.status == "failed" or one.episode in self.ungraded
        return self.errors.get(one.episode) if failed else None

    def interrupted(self) -> None:
        """Name the episodes that were cut short, and say how many had not begun."""
        if self._tasks:
            self._progress.note(f"Recorded as interrupted: {', '.join(self._tasks)}.", "warning")
        left = self._total - max(self._begun_episodes, self._done)
        if left:
            self._progress.note(f"Not begun: {left} of {counted(self._total, 'episode')}.", "warning")


def _doing(body: Body) -> str | None:
    match body:
        case GenerateRequested(role=role, who=who, position=position):
            return f"{position}: the {who} model is asked ({role})"
        case GenerateCompleted(role=role):
            return f"the {role} answered"
        case StepDrafted(position=position, action=action):
            return f"{position}: {action_text(action)}"
        case VerdictGiven(outcome=outcome, category=category):
            return f"verdict: {outcome}{f' ({category})' if category else ''}"
        case RepairMade(kind=kind):
            return f"repair ({kind})"
        case SpeculationMatched(position=position):
            return f"{position}: as guessed"
        case PlanMade():
            return "the strong model has made a plan"
        case ProgressJudged(outcome=outcome):
            return f"progress judged: {outcome}"
        case ControlPassed(to=to, reason=reason):
            return f"the {to} model goes on ({reason})"
        case ActRequested(action=action):
            return f"executing {action_text(action)}"
        case ResetRequested():
            return "the environment begins"
        case EvaluateRequested():
            return "grading"
        case _:
            return None


def weights_progress(progress: Progress) -> Callable[[int, int, str], None]:
    """Return a function that shows weights being fetched."""
    said: set[str] = set()

    def show(done: int, total: int, note: str) -> None:
        if note not in said:
            said.add(note)
            progress.note(note, "dim")
        if not 0 < done < total:  # checking a file, or waiting for somebody else's fetch, has no measure
            progress.drop(WEIGHTS)
            return
        share = 100 * done // max(1, total)
        bar = "█" * (share // 4) + "░" * (25 - share // 4)
        progress.show(
            WEIGHTS, (f"{WEIGHTS}  ", "name"), f"{bar} {share:3d} %  {done // _MEGABYTE} of {total // _MEGABYTE} MB"
        )

    return show
