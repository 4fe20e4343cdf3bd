"""All checks, and running them over somebody's environment."""

from collections.abc import Callable, Sequence
from typing import Any

from spectrace.config import open_environment
from spectrace.core.types import Call, ModelRequest
from spectrace.environments.environment import Environment
from spectrace.errors import UsageError
from spectrace.testing.conformance import acting, answering, described
from spectrace.testing.conformance.check import Check, Finding, Report
from spectrace.testing.conformance.session import Flaw, NotApplicable, Subject, saying
from spectrace.testing.loop import in_a_loop

CHECKS: tuple[Check, ...] = (*described.CHECKS, *acting.CHECKS, *answering.CHECKS)
USER = ("Hello, I need your help with this.", "Yes, please go on.")
"""What a user says where nobody gives other words: first, and ever after."""


def check_environment(
    env: Environment | Callable[[], Environment] | str,
    calls: Sequence[Call] = (),
    *,
    task: str | None = None,
    user: Sequence[str] | Callable[[ModelRequest], str] = USER,
    timeout_s: float = 60.0,
) -> Report:
    """Insist that an environment keeps what the port promises; raise AssertionError with every finding.

    It acts: give it an environment of tests. Whatever that declares, restore=none too, `calls` are made in earnest and
    more than once, and it is reset dozens of times: where its state is a real one, that is changed and lost. `env` is
    a function that returns a fresh instance, an instance, or a name as on the command line. `calls` are made in this
    order on `task` (the first, unless you name another): give a read and a write that succeed, and one that is
    refused. Reads are made up beside them, writes never. `user` speaks
    where the environment asks for a model. What could not be looked at stands in the report, with what it would need.
    """
    report = inspect_environment(env, calls, task=task, user=user, timeout_s=timeout_s)
    if report.findings:
        raise AssertionError(str(report))
    return report


def inspect_environment(
    env: Environment | Callable[[], Environment] | str,
    calls: Sequence[Call] = (),
    *,
    task: str | None = None,
    user: Sequence[str] | Callable[[ModelRequest], str] = USER,
    timeout_s: float = 60.0,
) -> Report:
    """Return what `check_environment` insists on."""
    name, opener, single = _opener(env)
    speaks = (lambda request, _: user(request)) if callable(user) else saying(user)
    subject = Subject(name, opener, single, tuple(calls), task, speaks, timeout_s)
    return in_a_loop(_inspected(subject))


async def _inspected(subject: Subject) -> Report:
    findings: dict[tuple[str, str], Finding] = {}
    kept: list[str] = []
    skipped: list[tuple[str, str]] = []
    for one in CHECKS:
        found: list[Flaw] = []
        try:
            async for flaw in one.look(subject):
                found.append(flaw)  # noqa: PERF401 - those before an exception count
        except NotApplicable as why:
            if not found:
                skipped.append((one.claim, str(why)))
                continue
        except Flaw as stopped:
            found.append(stopped)
        except Exception as error:  # noqa: BLE001 - what an environment returned may break any look at it
            do = "return what the port says: see spectrace.environments.environment"
            found.append(Flaw("the port", f"{type(error).__name__}: {error}", do))
        for flaw in found:  # what breaks every check is told once
            findings.setdefault((flaw.where, flaw.found), Finding(one.claim, flaw.where, flaw.found, flaw.do))
        if not found:
            kept.append(one.claim)
    return Report(await _name(subject), tuple(findings.values()), tuple(kept), tuple(skipped))


async def _name(subject: Subject) -> str:
    """Return what the environment calls itself, else what it was given as."""
    try:
        async with subject.session() as session:
            return session.prepare().name or subject.name
    except Exception:  # noqa: BLE001 - the findings say what is wrong with it
        return subject.name


def _opener(env: Environment | Callable[[], Environment] | str) -> tuple[str, Callable[[], Any], bool]:
    """Return a name, a function that opens an instance, and whether it is always the same one."""
    if isinstance(env, str):
        return env, lambda: open_environment(env), False
    given: Any = env
    name = getattr(given, "__name__", type(given).__name__)
    if not hasattr(given, "prepare") or isinstance(given, type):
        if not callable(given):
            raise UsageError(
                f"check_environment: expected an Environment or a function that returns one, found a {name}."
            )
        return name, given, False
    fresh = getattr(given, "fresh", None)
    return (name, fresh, False) if callable(fresh) else (name, lambda: given, True)
