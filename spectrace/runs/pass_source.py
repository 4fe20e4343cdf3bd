"""Who answers a pass of a run: its verifier, asked only while the run may go on, each verdict counted as it is given.

Before a call the verdicts that came before it are in the log: then they are counted, and not earlier, so that nothing
counts that a killed process has lost. A refusal is recorded as `generate.failed`, kind budget, and ends the pass.
"""

import asyncio
from collections.abc import Callable

from spectrace.core.commands import Generate
from spectrace.core.endings import RUN
from spectrace.core.events import Body, GenerateFailed
from spectrace.core.money import rates_of
from spectrace.core.rereviews import Listening, Said
from spectrace.core.types import ModelFacts
from spectrace.errors import ModelFailed
from spectrace.runs.health import Health
from spectrace.runs.purse import Purse, most
from spectrace.runs.recorder import Watcher, threads
from spectrace.runs.sources import Generated, ModelSource, Source

CANCELLED = f"{RUN}cancelled"
OVERTAKEN = f"{RUN}overtaken"
"""Somebody else began the same pass a moment earlier."""

_ROLE = "strong"


class Answers:
    """Hears what a child writes: its answers, until they are counted, and its last error. A Watcher."""

    def __init__(self, count: Callable[[str, Said], object], watch: Watcher | None = None) -> None:
        """`count` is told of each answer, with the child's name, once it is in the log."""
        self._count = count
        self._watch = watch
        self._listening = Listening()
        self._waiting: list[tuple[str, Said]] = []
        self.given = 0
        self.error: str | None = None
        """The last failure: a review whose call failed has no verdict, whatever is answered after it."""

    def __call__(self, child: str, seq: int, body: Body) -> None:
        """Hear one event."""
        if isinstance(body, GenerateFailed):
            self.error = body.error
        said = self._listening.hear(seq, body)
        if said is not None:
            self._waiting.append((child, said))
            self.given += 1
        if self._watch is not None:
            self._watch(child, seq, body)

    def count(self) -> None:
        """Count what was given, all of which is in the log."""
        while self._waiting:
            self._count(*self._waiting[0])
            del self._waiting[0]


class PassSource(ModelSource):
    """The verifier, while the run may go on."""

    def __init__(  # noqa: PLR0913 - what it asks, and what a call is weighed against
        self,
        verifier: Source,
        facts: ModelFacts,
        answers: Answers,
        refused: Callable[[], str | None],
        *,
        purse: Purse,
        health: Health,
    ) -> None:
        """`refused` says, before each call, why there must be none; it may wait for a database."""
        super().__init__({})
        self._verifier = verifier
        self._rates = rates_of(facts.price)
        self._answers = answers
        self._refused = refused
        self._purse, self._health = purse, health

    async def generate(self, lane: str, request: int, command: Generate) -> Generated:
        """Count the answers before this call, and ask the verifier."""
        refused = await asyncio.get_running_loop().run_in_executor(threads(), self._before) or self._purse.empty
        if refused is not None:
            raise ModelFailed("budget", refused)
        try:
            generated = await self._verifier.generate(lane, request, command)
        except ModelFailed as error:
            self._health.failed(_ROLE, error)
            raise
        self._health.answered(_ROLE)
        self._purse.pay(most(self._rates, generated.completion.usage))
        return generated

    def _before(self) -> str | None:
        self._answers.count()
        return self._refused()
