"""A check of an environment: its claim, and how it looks. What it finds says where, what, and what to do about it."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from spectrace.testing.conformance.session import Flaw, Subject

Look = Callable[[Subject], AsyncIterator[Flaw]]


@dataclass(frozen=True, slots=True)
class Check:
    """One claim about an environment. `look` yields what contradicts it."""

    claim: str
    look: Look


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that an environment does not keep."""

    claim: str
    where: str
    """The method, the tool or the task."""
    found: str
    do: str

    def __str__(self) -> str:
        """Say all of it."""
        return f"{self.claim}\n  where  {self.where}\n  found  {self.found}\n  do     {self.do}"


@dataclass(frozen=True, slots=True)
class Report:
    """What came of all checks."""

    environment: str
    findings: tuple[Finding, ...]
    kept: tuple[str, ...]
    """The claims that hold."""
    skipped: tuple[tuple[str, str], ...]
    """(claim, why it could not be looked at)."""

    def __str__(self) -> str:
        """Say every finding, and what could not be looked at."""
        counts = f"{len(self.findings)} found, {len(self.kept)} claims hold, {len(self.skipped)} not looked at"
        lines = [f"environment {self.environment}: {counts}"]
        lines += [f"\n{number}. {finding}" for number, finding in enumerate(self.findings, 1)]
        lines += [f"\nnot looked at: {claim}: {why}" for claim, why in self.skipped]
        return "\n".join(lines)


def check(look: Look) -> Check:
    """Make a function a check; its name is the claim."""
    return Check(look.__name__.replace("_", " "), look)
