"""What `spectrace run` is asked to run: tasks, protocols with their options, a model for each role."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from spectrace.audit.visible import one_line, shortened
from spectrace.config import protocol
from spectrace.core import options as core_options
from spectrace.core.events import EpisodeStarted
from spectrace.core.options import types_of
from spectrace.core.protocols import PROTOCOLS
from spectrace.core.types import Task
from spectrace.environments.environment import Environment
from spectrace.errors import UsageError
from spectrace.models.client import ModelClient, can_score
from spectrace.runs.live import EpisodeProtocol
from spectrace.settings import Settings, meant

_LISTED_TASKS = 20
_LONGEST_NAME = 60
_EVERY = "all"


def choose_protocols(names: Sequence[str], options: Sequence[str]) -> list[EpisodeProtocol]:
    """Return the protocols that were named, each with those of the options that it has; `all` is every one."""
    parts = [part for name in names for part in _parts(name)]
    wanted = list(PROTOCOLS) if _EVERY in parts else list(dict.fromkeys(parts))
    if not wanted:
        raise UsageError(f"--protocol says who drafts and who reviews: {', '.join(PROTOCOLS)}, or all.")
    _refuse_contradictions(options)
    # An option that none of them has goes to each: the first says what is wrong with it.
    owned = {key for name in wanted if name in PROTOCOLS for key in types_of(PROTOCOLS[name])}
    return [
        protocol(name, [text for text in options if _key(text) not in owned or _has(name, text)]) for name in wanted
    ]


def _refuse_contradictions(options: Sequence[str]) -> None:
    """Refuse an option that is given twice and not alike: whichever stood, somebody would be wrong about it."""
    given: dict[str, str] = {}
    for text in options:
        if given.setdefault(_key(text), text) != text:
            raise UsageError(f"-o {given[_key(text)]} and -o {text}: one option, two values. Give one of them.")


def lacking(protocols: Sequence[EpisodeProtocol], options: Sequence[str]) -> list[str]:
    """Return a sentence for each option that some of the protocols have not, or that has no effect on them."""
    found: list[str] = []
    for text in options:
        without = [one.NAME for one in protocols if not _has(one.NAME, text)]
        if without:
            found.append(f"-o {text} is no option of {', '.join(without)}: run without it.")
        for one in protocols:
            needs = core_options.lacking(one, _key(text)) if one.NAME not in without else ()
            if needs:
                with_ = " ".join(f"-o {name}={value}" for name, value in needs)
                found.append(f"-o {text} has no effect on {one.NAME} without {with_}.")
    return found


def unasked(protocols: Sequence[EpisodeProtocol], given: Mapping[str, str | None]) -> list[str]:
    """Return a sentence for each model that was given and that no protocol asks."""
    roles = {role for one in protocols for role in one.MODELS}
    names = ", ".join(one.NAME for one in protocols)
    return [
        f"--{role} {given[role]} is not asked by {names}."
        for role in ("weak", "strong")
        if given[role] is not None and role not in roles
    ]


def require_scoring(
    protocols: Sequence[EpisodeProtocol],
    clients: Mapping[str, ModelClient],
    named: Mapping[str, str],
    settings: Settings,
) -> None:
    """Raise UsageError where a verdict is to be read from probabilities and the strong model gives none."""
    scored = next((one for one in protocols if getattr(one, "verdict", None) == "scored"), None)
    if scored is None or core_options.lacking(scored, "verdict") or can_score(clients["strong"]):
        return
    name = named["strong"]
    table = settings.models.get(name)
    what = name if table is None else f"{name} ({table.get('provider')}:{table.get('name')})"
    raise UsageError(
        f"-o verdict=scored reads probabilities, and the strong model {what} gives none: "
        "name one behind SGLang, --strong sglang:NAME@URL, or leave the option out."
    )


def require_user(started: EpisodeStarted, clients: Mapping[str, ModelClient]) -> None:
    """Raise UsageError where the recorded episode asked a user whom nobody plays now."""
    if "user" not in clients and any(facts.role == "user" for facts in started.models):
        raise UsageError("the episode has a simulated user: name the model that plays it with --user MODEL.")


def _has(name: str, text: str) -> bool:
    return name in PROTOCOLS and _key(text) in types_of(PROTOCOLS[name])


def _key(text: str) -> str:
    return text.partition("=")[0]


def choose_tasks(env: str, environment: Environment, names: Sequence[str]) -> list[Task]:
    """Return the tasks that were named, in the order named; `all` is every one. An id may hold commas itself."""
    tasks = {task.id: task for task in environment.tasks()}
    wanted = [part for given in names for part in ([given] if given in tasks else _parts(given))]
    listing = _listing(list(tasks))
    if not wanted:
        raise UsageError(f"--task says what to run. {env} has {listing}, or all.")
    if _EVERY in wanted and _EVERY not in tasks:
        return list(tasks.values())
    for name in wanted:
        if name not in tasks:
            near = meant(name, map(_inline, tasks))
            raise UsageError(f"{env} has no task {_inline(repr(name))}{near}; it has {listing}.")
    return [tasks[name] for name in dict.fromkeys(wanted)]


def _parts(given: str) -> list[str]:
    return [part.strip() for part in given.split(",") if part.strip()]


def _listing(names: Sequence[str]) -> str:
    if len(names) <= _LISTED_TASKS:
        return ", ".join(map(_inline, names)) or "no tasks of its own"
    first = ", ".join(map(_inline, names[:_LISTED_TASKS]))
    return f"{len(names)} tasks, {first} and so on to {_inline(names[-1])}"


def _inline(name: str) -> str:
    """Return a name as part of a sentence: on its line, and no longer than anybody reads."""
    return one_line(shortened(name, _LONGEST_NAME))


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
