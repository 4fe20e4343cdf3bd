"""What `spectrace run` is asked to run: tasks, protocols with their options, a model for each role."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from spectrace.config import protocol
from spectrace.core.options import types_of
from spectrace.core.types import Task
from spectrace.environments.environment import Environment
from spectrace.errors import UsageError
from spectrace.runs.live import EpisodeProtocol
from spectrace.runs.protocols import PROTOCOLS
from spectrace.settings import Settings, meant

_LISTED_TASKS = 20
_EVERY = "all"


def choose_protocols(names: Sequence[str], options: Sequence[str]) -> list[EpisodeProtocol]:
    """Return the protocols that were named, each with those of the options that it has; `all` is every one."""
    parts = [part.strip() for name in names for part in name.split(",") if part.strip()]
    wanted = list(PROTOCOLS) if _EVERY in parts else list(dict.fromkeys(parts))
    if not wanted:
        raise UsageError(f"--protocol says who drafts and who reviews: {', '.join(PROTOCOLS)}, or all.")
    # An option that none of them has goes to each: the first says what is wrong with it.
    owned = {key for name in wanted if name in PROTOCOLS for key in types_of(PROTOCOLS[name])}
    return [
        protocol(name, [text for text in options if _key(text) not in owned or _has(name, text)]) for name in wanted
    ]


def lacking(protocols: Sequence[EpisodeProtocol], options: Sequence[str]) -> list[str]:
    """Return a sentence for each option that some of the protocols have and others have not."""
    found: list[str] = []
    for text in options:
        without = [one.NAME for one in protocols if not _has(one.NAME, text)]
        if without:
            found.append(f"-o {text} is no option of {', '.join(without)}: run without it.")
    return found


def _has(name: str, text: str) -> bool:
    return name in PROTOCOLS and _key(text) in types_of(PROTOCOLS[name])


def _key(text: str) -> str:
    return text.partition("=")[0]


def choose_tasks(env: str, environment: Environment, names: Sequence[str]) -> list[Task]:
    """Return the tasks that were named, in the order named; `all` is every one."""
    tasks = {task.id: task for task in environment.tasks()}
    wanted = [part.strip() for name in names for part in name.split(",") if part.strip()]
    listing = _listing(list(tasks))
    if not wanted:
        raise UsageError(f"--task says what to run. {env} has {listing}, or all.")
    if "all" in wanted and "all" not in tasks:
        return list(tasks.values())
    for name in wanted:
        if name not in tasks:
            raise UsageError(f"{env} has no task {name!r}{meant(name, tasks)}; it has {listing}.")
    return [tasks[name] for name in dict.fromkeys(wanted)]


def _listing(names: Sequence[str]) -> str:
    if len(names) <= _LISTED_TASKS:
        return ", ".join(names) or "no tasks of its own"
    return f"{len(names)} tasks, {', '.join(names[:_LISTED_TASKS])} and so on to {names[-1]}"


def named_models(
    protocols: Sequence[EpisodeProtocol], given: Mapping[str, str | None], settings: Settings
) -> dict[str, str]:
    """Return role -> model, for the roles that the protocols have and the user that was given."""
    named: dict[str, str] = {}
    needing = {role: one.NAME for one in reversed(protocols) for role in one.MODELS}
    for role in ("weak", "strong", "user"):
        if role not in {*needing, "user"}:
            continue
        spec = given[role] or (role if role in settings.models else None)
        if spec is not None:
            named[role] = spec
        elif role != "user":
            where = settings.path or Path("spectrace.toml")
            raise UsageError(
                f"{needing[role]} needs a {role} model: --{role} MODEL, or [models.{role}] in {where}. "
                "A model is, for example, local:weak, sglang:NAME@http://127.0.0.1:30000 or scripted:FILE."
            )
    return named
