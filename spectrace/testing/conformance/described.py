"""Checks of what an environment says of itself: tasks, facts, instructions, tools and their schemas."""

import json
import re
from collections.abc import AsyncIterator, Iterator

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from spectrace.core.types import Effect, EnvironmentFacts, Task, ToolSpec
from spectrace.testing.conformance.check import Check, check
from spectrace.testing.conformance.session import Flaw, NotApplicable, Session, Subject

FINGERPRINT = re.compile(r"sha256:[0-9a-f]{64}")
_RESTORE = ("reset", "snapshot", "none")
_TRIED = 5
"""Tasks that are prepared: some environments have thousands."""
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@check
async def tasks_are_there_and_the_same_every_time(subject: Subject) -> AsyncIterator[Flaw]:
    """Look at ids, requests and order."""
    async with subject.session() as session:
        session.task()
        tasks = session.environment.tasks()
        for task in tasks:
            if not isinstance(task, Task) or not task.id or not isinstance(task.request, str):
                yield Flaw("tasks()", f"{task!r:.120}", "a Task has an id and the text of a request")
        ids = [task.id for task in tasks if isinstance(task, Task)]
        twice = sorted({id_ for id_ in ids if ids.count(id_) > 1})
        if twice:
            yield Flaw("tasks()", f"{', '.join(twice)} more than once", "give each task an id of its own")
        if tuple(session.environment.tasks()) != tuple(tasks):
            yield Flaw("tasks()", "others, or in another order, when asked again", "return the same tuple every time")
    async with subject.session() as other:
        if not subject.single and tuple(other.environment.tasks()) != tuple(tasks):
            yield Flaw("tasks()", "others, or in another order, in a second instance", "draw nothing at random here")


@check
async def every_task_can_be_prepared(subject: Subject) -> AsyncIterator[Flaw]:
    """Prepare the first few, one after the other in the same instance."""
    async with subject.session() as session:
        for task in session.environment.tasks()[:_TRIED]:
            try:
                session.prepare(task)
            except Flaw as flaw:
                yield flaw


@check
async def facts_are_well_formed_and_the_same_every_time(subject: Subject) -> AsyncIterator[Flaw]:
    """Look at what prepare returns."""
    async with subject.session() as session:
        facts = session.prepare()
        if facts.restore not in _RESTORE:
            yield Flaw("prepare(task)", f"restore={facts.restore!r}", f"restore is one of {', '.join(_RESTORE)}")
        if not facts.name or not facts.version:
            yield Flaw(
                "prepare(task)", f"name {facts.name!r}, version {facts.version!r}", "name both: they are recorded"
            )
        if facts.fingerprint is not None and not FINGERPRINT.fullmatch(str(facts.fingerprint)):
            yield _malformed("prepare(task)", facts.fingerprint)
        again = session.prepare()
    if facts != again:
        yield _changed(facts, again, "when the same task was prepared again")
    if not subject.single:
        async with subject.session() as other:
            if facts != (found := other.prepare()):
                yield _changed(facts, found, "in a second instance")


@check
async def the_fingerprint_of_the_facts_is_that_of_the_first_state(subject: Subject) -> AsyncIterator[Flaw]:
    """Compare prepare's with the one after reset; None says that it is not known before."""
    async with subject.session() as session:
        await session.begin()
        facts = session.prepare()
        await session.begin()
        found = session.fingerprint()
    if facts.fingerprint is None:
        raise NotApplicable("prepare(task) gives no fingerprint")
    if facts.fingerprint != found:
        yield Flaw(
            "prepare(task)",
            f"fingerprint {facts.fingerprint[:19]}, after reset {str(found)[:19]}",
            "give the first state's, or None where only reset makes it",
        )


@check
async def instructions_are_a_text_and_the_same_every_time(subject: Subject) -> AsyncIterator[Flaw]:
    """Look at the policy."""
    async with subject.session() as session:
        task = session.task()
        session.prepare(task)
        said = session.environment.instructions(task)
        if not isinstance(said, str) or not said.strip():
            yield Flaw(
                "instructions(task)", repr(said)[:80], "say what the models are to do, and what the policy forbids"
            )
        if session.environment.instructions(task) != said:
            yield Flaw("instructions(task)", "another text when asked again", "no dates, no ids drawn at random")


@check
async def tools_are_named_and_declared_and_the_same_every_time(subject: Subject) -> AsyncIterator[Flaw]:
    """Look at names, descriptions, effects, order."""
    async with subject.session() as session:
        tools = await _tools(session)
        names = [tool.name for tool in tools]
        for tool in tools:
            where = f"tool {tool.name!r}"
            if not _NAME.fullmatch(tool.name):
                yield Flaw(where, "a name that servers refuse", "use letters, digits, _ and -, at most 64")
            if names.count(tool.name) > 1:
                yield Flaw(where, "two tools of this name", "rename one")
            if not tool.description.strip():
                yield Flaw(where, "no description", "say in a sentence what it does: the models choose by that")
            if not isinstance(_whatever(tool.effect), Effect):
                yield Flaw(where, f"effect {tool.effect!r}", "declare Effect.READ or Effect.WRITE")
        if tuple(session.environment.tools()) != tools:
            yield Flaw("tools()", "others, or in another order, when asked again", "return the same tuple every time")
    if not subject.single:
        async with subject.session() as other:
            if await _tools(other) != tools:
                yield Flaw("tools()", "others, or in another order, in a second instance", "order them yourself")


@check
async def tool_schemas_are_JSON_Schemas_of_an_object(subject: Subject) -> AsyncIterator[Flaw]:  # noqa: N802 - a claim
    """Look at the parameters of every tool."""
    async with subject.session() as session:
        for tool in await _tools(session):
            for found, do in _wrong(tool.parameters):
                yield Flaw(f"tool {tool.name!r}", found, do)


async def _tools(session: Session) -> tuple[ToolSpec, ...]:
    session.prepare()
    tools = tuple(session.environment.tools())
    for tool in map(_whatever, tools):
        if not isinstance(tool, ToolSpec):
            raise Flaw("tools()", f"{type(tool).__name__} in place of ToolSpec", "return ToolSpec values")
    return tools


def _wrong(parameters: str) -> Iterator[tuple[str, str]]:
    try:
        schema = json.loads(parameters, parse_constant=_no_number)
        Draft202012Validator.check_schema(schema)
    except (TypeError, ValueError, RecursionError) as error:
        yield f"parameters that are no JSON: {error}", "parameters is the JSON text of a schema"
        return
    except SchemaError as error:
        where = error.json_path
        yield f"no JSON Schema (2020-12), at {where}: {error.message:.120}", "correct the schema"
        return
    if not isinstance(schema, dict) or schema.get("type") != "object":
        yield "a schema whose root is not of type object", "arguments are named: describe an object"
        return
    for ref in _references(schema):
        if not ref.startswith("#"):
            yield f"$ref {ref!r:.80}, which is elsewhere", "nothing is fetched: put it under $defs"
        elif not _there(ref, schema):
            yield f"$ref {ref!r:.80}, which is not there", "put it under $defs"


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no number of JSON")


def _references(schema: object) -> Iterator[str]:
    match schema:
        case dict():
            for name, value in schema.items():
                if name == "$ref" and isinstance(value, str):
                    yield value
                yield from _references(value)
        case list():
            for value in schema:
                yield from _references(value)
        case _:
            pass


def _there(ref: str, root: object) -> bool:
    for part in filter(None, ref.removeprefix("#").split("/")):
        name = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(root, dict) or name not in root:
            return False
        root = root[name]
    return True


def _whatever(value: object) -> object:
    """Forget what a value's type should be."""
    return value


def _malformed(where: str, found: object) -> Flaw:
    return Flaw(where, f"fingerprint {found!r:.80}", "a fingerprint is `sha256:` and 64 hex digits of the whole state")


def _changed(facts: EnvironmentFacts, found: EnvironmentFacts, when: str) -> Flaw:
    names = [name for name in EnvironmentFacts.__slots__ if getattr(facts, name) != getattr(found, name)]
    return Flaw("prepare(task)", f"another {', '.join(names)} {when}", "facts depend on the task and the data alone")


CHECKS: tuple[Check, ...] = (
    tasks_are_there_and_the_same_every_time,
    every_task_can_be_prepared,
    facts_are_well_formed_and_the_same_every_time,
    the_fingerprint_of_the_facts_is_that_of_the_first_state,
    instructions_are_a_text_and_the_same_every_time,
    tools_are_named_and_declared_and_the_same_every_time,
    tool_schemas_are_JSON_Schemas_of_an_object,
)
