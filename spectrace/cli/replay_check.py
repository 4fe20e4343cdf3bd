"""`spectrace replay --check`: what has changed since a recording, found without running anything.

Of the environments only our own are opened by a recorded name, and only these are asked for their facts: loading a task
may run code, and another's environment is compared by its tools and instructions alone.
"""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spectrace.cli import console
from spectrace.cli.console import Column, status_span
from spectrace.config import BUILTIN_ENVIRONMENTS, builtin_environment, open_environment, settings_here
from spectrace.core.events import EpisodeStarted, Event
from spectrace.core.prompts import Prompts
from spectrace.environments.environment import Environment
from spectrace.errors import SpectraceError
from spectrace.redaction.opening import open_for
from spectrace.runs.preflight import Checked, Finding, check

_COLUMNS = (Column("episode"), Column("result"), Column("detail", flex=36))


@dataclass(frozen=True, slots=True)
class CheckedEpisode:
    """An episode, and what was found."""

    episode: str
    checked: Checked


async def look(
    events: Sequence[Event],
    *,
    env: str | None,
    prompts: Prompts | None,
    options: Mapping[str, object],
    parent: Sequence[Event] | None,
    frozen: bool = False,
) -> Checked:
    """Compare an episode with the environment that was named, else with ours of the recorded name."""
    started = events[0].body
    recorded = started.environment.name if isinstance(started, EpisodeStarted) else ""
    environment, why = _opened(env, recorded)
    try:
        return check(
            events,
            environment=environment,
            prepare=(env or recorded) in BUILTIN_ENVIRONMENTS,
            prompts=prompts,
            options=options,
            parent=parent,
            frozen=frozen,
            uncompared=why,
            redactor=None if environment is None else open_for(started, settings_here().redaction, os.environ),
        )
    finally:
        if environment is not None:
            await environment.close()


def _opened(env: str | None, recorded: str) -> tuple[Environment | None, str]:
    if env is not None:
        return open_environment(env), ""
    try:
        return builtin_environment(recorded), f"{recorded} is none of ours; name it with --env MODULE:ATTRIBUTE"
    except SpectraceError as error:  # an extra that is not installed
        return None, str(error)


def show(looked: Sequence[CheckedEpisode]) -> None:
    """Write the episodes as a table, then each finding once, and of several episodes a summary."""
    rows: list[list[console.Cell]] = [
        [(one.episode, "name"), status_span(one.checked.result), one.checked.detail] for one in looked
    ]
    console.table(_COLUMNS, rows, "No episode passes.")
    episodes: dict[Finding, list[str]] = {}
    for one in looked:
        for found in one.checked.findings:
            episodes.setdefault(found, []).append(one.episode)
    for found, names in episodes.items():
        console.line()
        kind = (found.kind, "strong") if found.changed else (f"{found.kind} (a note)", "dim")
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        console.line((names[0], "name"), (more, "dim"), "  ", kind, "  ", found.field)
        console.line(("recorded  ", "dim"), found.recorded, indent=2)
        console.line(("now       ", "dim"), found.found, indent=2)
        if any(found.digests):
            recorded, here = (digest or "none" for digest in found.digests)
            console.line(("schema    ", "dim"), f"{recorded}, now {here}", indent=2, hang=10)
    if len(looked) > 1:
        count = Counter(one.checked.result for one in looked)
        said = ", ".join(f"{count[name]} {name}" for name in ("same", "diverged", "untestable") if count[name])
        console.line()
        console.line((f"{len(looked)} episodes looked at, nothing run: {said}.", "strong"))


def item(one: CheckedEpisode) -> dict[str, object]:
    """Return the JSON item: that of a replay that compared nothing, with what was found."""
    return {
        "episode": one.episode,
        "result": one.checked.result,
        "compared": 0,
        "first_difference": None,
        "findings": [
            {
                "kind": found.kind,
                "field": found.field,
                "recorded": found.recorded,
                "found": found.found,
                "changed": found.changed,
                "recorded_digest": found.digests[0],
                "found_digest": found.digests[1],
            }
            for found in one.checked.findings
        ],
        "detail": one.checked.detail,
    }
