"""What can be said of a replay before anything runs: whether it can be done here, and what has changed since.

`check` executes nothing: it reads the record, and of an environment its tools and, where the caller says that this is
harmless (`prepare`), its facts. A *change* is one that a replay or a new run would meet; a *note* (another version of
spectrace, an option that did not exist then, a tool's other description) alters nothing of what is replayed.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from spectrace.core.compare import differences
from spectrace.core.digest import task_digest, text_digest
from spectrace.core.events import EpisodeStarted, Event, ResetCompleted, Unknown
from spectrace.core.options import recorded_options, types_of
from spectrace.core.prompts import PROTOCOL_REVISION, Prompts
from spectrace.core.protocols import PROTOCOLS, recorded_protocol, require_revision
from spectrace.core.setup import setup_of
from spectrace.core.types import EnvironmentFacts, Task, ToolSpec
from spectrace.core.versions import first_newer, newer_version
from spectrace.environments.environment import Environment
from spectrace.errors import EnvironmentFailed, Untestable
from spectrace.redaction.redactor import Redactor
from spectrace.redaction.values import redacted, told_task
from spectrace.runs.live import versions
from spectrace.runs.reverify import REVERIFY

IMPORTED = "imported"
"""The protocol name of recordings that another program made."""
_NOTHING = "(nothing)"
_SHOWN = 5
_BLOCKING = frozenset({"tool_removed", "tool_renamed", "schema", "effect"})
"""Changes of a tool that make re-executing a record another thing than it was."""
_FLIPPED = frozenset({"effect"})
"""Those that nobody can take for harmless."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it was recorded."""

    kind: str
    """tool_removed, tool_added, tool_renamed, tool_order, schema, description, effect, instructions, environment,
    options, prompts, revision or versions."""
    field: str
    """A path as in a JSON pointer, into what episode.started says; tools stand under their names."""
    recorded: str
    found: str
    changed: bool = True
    """False for a note."""
    digests: tuple[str | None, str | None] = (None, None)
    """Of a tool's schema, recorded and here; None where there is no such tool."""


@dataclass(frozen=True, slots=True)
class Checked:
    """same: nothing has changed; diverged: something has; untestable: it cannot be replayed here, and why."""

    result: str
    findings: tuple[Finding, ...]
    detail: str


_UNSEEN = "its first state was not compared: nothing of it is run"
_UNPREPARED = "how its environment is brought back, and its first state, were not compared: nothing of it is run"


def unreadable(events: Sequence[Event]) -> str | None:
    """Return why a record cannot be replayed whatever is here, or None."""
    if (newer := first_newer(events)) is not None:
        return str(newer_version(newer))
    erased = [event.seq for event in events if isinstance(event.body, Unknown) and event.body.erased]
    if erased:
        named = ", ".join(map(str, erased[:_SHOWN])) + (
            f" and {len(erased) - _SHOWN} more" if len(erased) > _SHOWN else ""
        )
        return (
            f"events {named} are erased, so what was asked and answered there is not known any more; "
            f"`spectrace show {events[0].episode}:{erased[0]}` says by whose order"
        )
    if not isinstance(events[0].body, EpisodeStarted):
        return "its first event is not an episode.started of a known version"
    missing = next((number for number, event in enumerate(events) if event.seq != number), None)
    if missing is not None:
        return f"event {missing} is missing: the log is damaged; `spectrace verify` tells more"
    return None


def readable(events: Sequence[Event]) -> EpisodeStarted:
    """Return event 0; raise Untestable where the record cannot be followed from there."""
    started = events[0].body
    if (reason := unreadable(events)) is not None or not isinstance(started, EpisodeStarted):
        raise Untestable(reason or "its first event is another one")
    return started


def require_restorable(then: EnvironmentFacts, here: EnvironmentFacts) -> None:
    """Raise Untestable for an environment in which a record's writes may not be executed again."""
    if here.name != then.name:
        raise Untestable(f"it was recorded on {then.name}, the environment given is {here.name}")
    if here.restore == "none":
        raise Untestable(
            f"{here.name} declares restore=none: executing a record again there would repeat its writes; "
            "name an environment of that name whose state can be brought back, a copy to try things on"
        )
    if then.restore == "none":
        raise Untestable(
            f"it was recorded under restore=none, and {here.name} declares restore={here.restore} now: whether its "
            "writes may be made again is not to be told from a name; run the task anew on the environment given"
        )


def with_options(started: EpisodeStarted, options: Mapping[str, object]) -> EpisodeStarted:
    """Return the start with other options of its protocol."""
    return (
        replace(started, options=json.dumps({**(recorded_options(started.options) or {}), **options}))
        if options
        else started
    )


def changes_by(started: EpisodeStarted, prompts: Prompts | None, options: Mapping[str, object]) -> tuple[Finding, ...]:
    """Return what the caller of a replay changes itself."""
    return (*_options_changed(started, options), *(_prompts_changed(started, prompts) if prompts is not None else ()))


def refuse(
    started: EpisodeStarted, environment: Environment, *, frozen: bool = False, redactor: Redactor | None = None
) -> tuple[str, ...]:
    """Raise Untestable, before anything runs, for an environment that cannot give the same answers again.

    Return what differs of its tools and does no harm: the recorded models were shown the recorded descriptions.
    `frozen` takes the recorded tools as they were, whatever has become of them here: then the answers tell. A tool of
    another effect is refused all the same: what only reads on one side may write on the other.
    """
    if started.origin is not None and started.origin.unfit is not None:
        raise Untestable(f"task does not fit: {started.origin.unfit}")
    try:
        facts = environment.prepare(own_or_recorded(environment, started, redactor))
    except EnvironmentFailed as error:
        raise Untestable(f"the environment cannot prepare task {started.task.id}: {error}") from None
    imported = started.protocol == IMPORTED  # its file says nothing of what its environment declared
    require_restorable(replace(facts, name=started.environment.name) if imported else started.environment, facts)
    wanted, found = started.environment.fingerprint, facts.fingerprint
    if wanted is not None and found is not None and wanted != found:
        raise Untestable(
            f"the task's first state differs: recorded {wanted[:19]}, here {found[:19]}; the environment's data changed"
        )
    if started.protocol == IMPORTED:
        return ()
    others = list(tool_findings(started.tools, redacted(redactor, tuple(environment.tools()))))
    blocking = [one for one in others if one.kind in (_FLIPPED if frozen else _BLOCKING)]
    if blocking:
        said = "; ".join(map(differing, blocking))
        raise Untestable(f"the tools differ ({said}): {_way_out([one.kind for one in blocking])}")
    return tuple(f"{one.field} ({one.kind})" for one in others)


def own_or_recorded(environment: Environment, recorded: EpisodeStarted, redactor: Redactor | None) -> Task:
    """Return the environment's own task where the recorded one is it but for placeholders, else the recorded one."""
    if redactor is None:
        return recorded.task
    for task in environment.tasks():
        if task.id == recorded.task.id and task_digest(told_task(redactor, task)) == recorded.task_digest:
            return task
    return recorded.task


def differing(one: Finding) -> str:
    """Return a changed tool with both sides, and its schemas' digests."""
    was, now = (digest[:19] if digest is not None else "none" for digest in one.digests)
    return f"{one.field}: recorded {one.recorded}, here {one.found}; schema {was}, now {now}"


def _way_out(kinds: Sequence[str]) -> str:
    """Say what can be done where tools are others than they were."""
    if _FLIPPED.intersection(kinds):
        return (
            "recorded under another version, and what only reads on one side may write on the other: not to be "
            "executed again"
        )
    return "recorded under another version: --frozen takes the recorded tools as they were"


def check(  # noqa: PLR0913 - all that a replay is given
    events: Sequence[Event],
    *,
    environment: Environment | None = None,
    prepare: bool = False,
    prompts: Prompts | None = None,
    options: Mapping[str, object] | None = None,
    parent: Sequence[Event] | None = None,
    frozen: bool = False,
    uncompared: str = "name it with --env",
    redactor: Redactor | None = None,
) -> Checked:
    """Say what a replay of the episode would meet, having run nothing.

    `environment` is compared with the recorded one; `prepare` allows to load the task there, which may run code of its
    author's. Without one, `uncompared` says why. Tools that `refuse` would refuse make it untestable; `frozen`, as
    there, takes the recorded ones as they were, but for those of another effect.
    """
    try:
        started = readable(events)
        _require(started, options or {}, parent, compared=environment is not None)
        found = [*changes_by(started, prompts, options or {}), *_notes(started)]
        if environment is not None:
            fresh = None if redactor is None or started.versions.redactor is None else redactor.fresh()
            found += _environment(started, environment, fresh, prepare=prepare)
            if not prepare and started.protocol != IMPORTED:
                found += _declared(events, started.environment, _declaration(environment))
    except Untestable as error:
        return Checked("untestable", (), str(error))
    if frozen:
        found = [replace(one, changed=one.changed and one.kind not in _BLOCKING - _FLIPPED) for one in found]
    changed = [one for one in found if one.changed]
    detail = _detail(found, None if environment is not None else uncompared)
    if environment is not None and not prepare:
        detail += f"; {_UNPREPARED if _declaration(environment) is None else _UNSEEN}"
    blocking = sorted({one.kind for one in changed if one.kind in _BLOCKING})
    if blocking:
        return Checked("untestable", tuple(found), f"{detail}; {_way_out(blocking)}")
    return Checked("diverged" if changed else "same", tuple(found), detail)


def _require(
    started: EpisodeStarted, options: Mapping[str, object], parent: Sequence[Event] | None, *, compared: bool
) -> None:
    """Raise Untestable for what no replay here can do."""
    if started.protocol == IMPORTED:
        if not compared:
            raise Untestable("it was imported: no generator of ours made it; re-execute its actions with --tools live")
        return
    if started.protocol != REVERIFY:
        recorded_protocol(with_options(started, options))
    elif parent is None:
        raise Untestable("it is a re-verification and its parent episode is not in this database")
    require_revision(started)
    setup_of(started)


def _detail(found: Sequence[Finding], uncompared: str | None) -> str:
    changed = sum(one.changed for one in found)
    said = "nothing has changed" if not changed else f"{changed} {'change' if changed == 1 else 'changes'}"
    notes = len(found) - changed
    said += f"; {notes} {'note' if notes == 1 else 'notes'}" if notes else ""
    return said if uncompared is None else f"{said}; its environment was not compared: {uncompared}"


def _notes(started: EpisodeStarted) -> Iterator[Finding]:
    if started.protocol_revision != PROTOCOL_REVISION and started.protocol != IMPORTED:
        recorded, here = f"{started.protocol_revision}", f"{PROTOCOL_REVISION}, and carries the recorded one"
        yield Finding("revision", "/protocol_revision", recorded, here, changed=False)
    for name, recorded in asdict(started.versions).items():
        here = getattr(versions(), name)
        if recorded != here and name != "redactor":  # a replay needs none: its record is redacted
            yield Finding("versions", f"/versions/{name}", str(recorded), str(here), changed=False)
    if started.protocol in PROTOCOLS:
        defaults = asdict(PROTOCOLS[started.protocol]())
        for name in types_of(PROTOCOLS[started.protocol]):
            if name not in (recorded_options(started.options) or {}):
                yield Finding("options", f"/options/{name}", _NOTHING, repr(defaults[name]), changed=False)


def _options_changed(started: EpisodeStarted, options: Mapping[str, object]) -> Iterator[Finding]:
    recorded = recorded_options(started.options) or {}
    for name, value in options.items():
        was = repr(recorded[name]) if name in recorded else _NOTHING
        if was != repr(value):
            yield Finding("options", f"/options/{name}", was, repr(value))


def _prompts_changed(started: EpisodeStarted, prompts: Prompts) -> Iterator[Finding]:
    for path, was, now in differences(setup_of(started).prompts, prompts):
        yield Finding("prompts", f"/prompts{path}", was, now)


def _environment(
    started: EpisodeStarted, environment: Environment, redactor: Redactor | None, *, prepare: bool
) -> Iterator[Finding]:
    if started.protocol == IMPORTED:  # its file says little of where it ran: it can be re-executed, or it cannot
        if prepare:
            refuse(started, environment)
        return
    try:
        if prepare:
            task = own_or_recorded(environment, started, redactor)
            yield from _facts(started.environment, environment.prepare(task))
        yield from tool_findings(started.tools, redacted(redactor, tuple(environment.tools())))
        said = redacted(redactor, environment.instructions(started.task))
        yield from (Finding("instructions", *one) for one in differences(started.instructions, said, "/instructions"))
    except EnvironmentFailed as error:  # the record needs it not, a new run would
        yield Finding("environment", "/task/id", started.task.id, f"not to be had here: {error}")


def _declaration(environment: Environment) -> tuple[EnvironmentFacts, bool] | None:
    """Return what an environment says of itself without loading a task, where it can; its class is asked, not run."""
    said = getattr(type(environment), "declared", None)
    declared: tuple[EnvironmentFacts, bool] | None = said(environment) if callable(said) else None
    return declared


def _declared(
    events: Sequence[Event], recorded: EnvironmentFacts, here: tuple[EnvironmentFacts, bool] | None
) -> Iterator[Finding]:
    """Yield another `restore`, and a fingerprint that was there and is no more."""
    if here is None:
        return
    if recorded.restore != here[0].restore:
        yield Finding("environment", "/environment/restore", recorded.restore, here[0].restore)
    opened = (event.body.fingerprint for event in events if isinstance(event.body, ResetCompleted))
    marked = recorded.fingerprint or next((one for one in opened if one is not None), None)
    if marked is not None and not here[1]:
        yield Finding("environment", "/environment/fingerprint", marked, _NOTHING)


def _facts(recorded: EnvironmentFacts, here: EnvironmentFacts) -> Iterator[Finding]:
    for path, was, now in differences(recorded, here, "/environment"):
        known = not path.endswith("/fingerprint") or (recorded.fingerprint is not None and here.fingerprint is not None)
        if known:
            notable = path in {"/environment/version", "/environment/package"}
            yield Finding("environment", path, was, now, changed=not notable)


def tool_findings(recorded: Sequence[ToolSpec], here: Sequence[ToolSpec]) -> Iterator[Finding]:
    """Yield what has become of the tools: removed, added, renamed, or another schema, description, effect or order."""
    was, now = {tool.name: tool for tool in recorded}, {tool.name: tool for tool in here}
    new = [tool for tool in here if tool.name not in was]
    for tool in recorded:
        if tool.name in now:
            yield from _tool_changes(tool, now[tool.name])
        elif (renamed := next((one for one in new if _same_but_name(tool, one)), None)) is not None:
            new.remove(renamed)
            yield _told("tool_renamed", tool, renamed)
        else:
            yield _told("tool_removed", tool, None)
    for tool in new:
        yield _told("tool_added", None, tool)
    if set(was) == set(now) and list(was) != list(now):
        yield Finding("tool_order", "/tools", ", ".join(was), ", ".join(now))


def _told(kind: str, was: ToolSpec | None, now: ToolSpec | None) -> Finding:
    recorded, here = (_NOTHING if tool is None else tool.name for tool in (was, now))
    field = f"/tools/{here if was is None else recorded}"
    return Finding(kind, field, recorded, here, digests=_digests(was, now))


def _digests(was: ToolSpec | None, now: ToolSpec | None) -> tuple[str | None, str | None]:
    recorded, here = (None if tool is None else text_digest(tool.parameters) for tool in (was, now))
    return recorded, here


def _same_but_name(one: ToolSpec, other: ToolSpec) -> bool:
    return replace(one, name=other.name, effect_by=other.effect_by, timeout_us=other.timeout_us) == other


def _tool_changes(was: ToolSpec, now: ToolSpec) -> Iterator[Finding]:
    kinds = (("schema", "parameters"), ("description", "description"), ("effect", "effect"), ("effect", "external"))
    for kind, name in kinds:
        for found in differences(getattr(was, name), getattr(now, name), f"/tools/{was.name}/{name}"):
            yield Finding(kind, *found, changed=kind != "description", digests=_digests(was, now))
