"""Speculative Actions: the strong model acts at every step; meanwhile the weak one guesses ahead of it.

Both work side by side from the same history. A guess that only reads, and sends nothing outside, is launched at once
on the authority `speculative`; where the strong model then writes exactly that step, its finished observation is taken
instead of asking again. Everything else is thrown away, the lost branch awaited. A guess that would write, reply or
finish is recorded and never executed: the strong model's path is the one that it would have taken alone. (The published
τ-bench code guesses the *user* and runs ahead on the live environment, writes included: see `audit.speculation`.)
"""

from dataclasses import dataclass, field, replace
from itertools import count, groupby
from typing import ClassVar, cast

from spectrace.core import commands, facts, roles
from spectrace.core.baselines import Execute, executes, take, unreadable
from spectrace.core.commands import CommandFailed, Completed, Failed, Protocol, parallel, tell
from spectrace.core.events import ReplyUnusable, SpeculationMatched, StepsDiscarded
from spectrace.core.facts import tool_of
from spectrace.core.options import Budgeted
from spectrace.core.reading import objection
from spectrace.core.roles import Desk, Ended, Meter, Written
from spectrace.core.sameness import same_action
from spectrace.core.setup import Setup
from spectrace.core.steps import Ledger, finish_episode
from spectrace.core.types import Action, Effect, Outcome, Role, Step

_MOVED = ("a guessed look-up changed the state meanwhile, and this was written for the one before", "asked_again")
_OVER = ("a guessed look-up ended the episode meanwhile", "gave_up")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculativeActions(Budgeted):
    """The protocol and its options, as recorded in `episode.started` (PROTOCOL section 3)."""

    NAME: ClassVar[str] = "speculative-actions"
    MODELS: ClassVar[tuple[str, ...]] = ("weak", "strong")

    guesses: int = 1

    def run(self, setup: Setup) -> Protocol[Outcome]:
        """Return the generator of one episode."""
        return finish_episode(_episode(self, Desk(setup, self.budget)))


@dataclass(frozen=True, slots=True)
class _Guess:
    """A step that the weak model expects of the strong one; observed where it was launched and answered."""

    step: Step
    seq: int
    """Its step.speculated."""
    segment: int
    index: int
    changed: bool = False
    """It was declared a read, and the state is another one after it."""

    @property
    def over(self) -> bool:
        """Whether the environment ended the episode on it."""
        return self.step.observation is not None and self.step.observation.done

    @property
    def leads_on(self) -> bool:
        """Whether the next step can be guessed as if this one were done."""
        return self.step.observation is not None and not (self.changed or self.over)


@dataclass(slots=True)
class _Run:
    """One episode: its history, and the guesses that lie ahead of it, each made as if those before it were done."""

    options: SpeculativeActions
    desk: Desk
    ledger: Ledger
    ahead: tuple[_Guess, ...] = ()
    distrusted: set[str | None] = field(default_factory=set)
    """Tools that were declared reads and changed the state: never launched again."""


def _episode(options: SpeculativeActions, desk: Desk) -> Protocol[Outcome]:
    """Until the episode ends: ask the strong model while the weak one guesses; take what matches, execute the rest."""
    run = _Run(options, desk, Ledger(desk, (yield from commands.reset(desk.setup.seed))))
    for index in count(1):
        if run.ledger.outcome is not None:
            return run.ledger.outcome
        written = yield from _side_by_side(run, index)
        overtaken = yield from _irrevocable(run)
        if isinstance(written, Ended):
            yield from _lose(run)
            raise written
        if overtaken is None:
            yield from take(desk, run.ledger, index, written, _takes_guesses(run, index))
        else:
            cause, then = overtaken
            yield from tell(ReplyUnusable(role=Role.ACTOR, request=written.request, cause=cause, next=then))
    raise AssertionError  # count() has no end


def _side_by_side(run: _Run, index: int) -> Protocol[Written | Ended]:
    """Ask the strong model for its next message; meanwhile let the weak one guess, and launch what only reads.

    Both are joined before anything else happens. Each counts on a meter of its own until then: what a budget says must
    not depend on which answer came first, because a replay has another order.
    """
    acting, guessing = _apart(run.desk), _apart(run.desk)
    acted, guessed = yield from parallel([_act(run, acting, index), _guess_ahead(run, guessing, index)])
    _join(run.desk.meter, acting.meter, guessing.meter)
    run.ahead = cast("tuple[_Guess, ...]", _value(guessed))
    run.distrusted |= {tool_of(guess.step.action) for guess in run.ahead if guess.changed}
    return cast("Written | Ended", _value(acted))


def _apart(desk: Desk) -> Desk:
    return replace(desk, meter=replace(desk.meter, calls=dict(desk.meter.calls)))


def _join(meter: Meter, *branches: Meter) -> None:
    """Count what each branch used beyond what it began with."""
    calls, tokens, uncounted = dict(meter.calls), meter.tokens, meter.uncounted
    for branch in branches:
        meter.tokens += branch.tokens - tokens
        meter.uncounted += branch.uncounted - uncounted
        for who, answered in branch.calls.items():
            meter.calls[who] = meter.calls.get(who, 0) + answered - calls.get(who, 0)


def _value(result: Completed | Failed) -> object:
    if isinstance(result, Failed):
        raise result.error
    return result.value


def _act(run: _Run, desk: Desk, index: int) -> Protocol[Written | Ended]:
    """Return the strong model's next message, or how the episode ends without one: a branch raises nothing."""
    try:
        written = yield from roles.act_next(desk, "strong", run.ledger.history, f"s{index}")
    except Ended as ended:
        return ended
    return Ended(unreadable()) if written is None else written


def _guess_ahead(run: _Run, desk: Desk, index: int) -> Protocol[tuple[_Guess, ...]]:
    """Guess on from what lies ahead, up to `guesses` steps. Where the weak model fails, there is no guess, no more."""
    ahead, made, most = run.ahead, 0, run.options.guesses
    while len(ahead) < most and all(guess.leads_on for guess in ahead):
        done = tuple(guess.step for guess in ahead)
        try:
            written = yield from roles.draft(desk, run.ledger.history, done, f"s{index}.g{made + 1}")
        except Ended:  # the log says why; the strong model meets its own limits
            return ahead
        if written is None:
            return ahead
        for action in written.actions[: most - len(ahead)]:
            made += 1
            guess = yield from _guess(run, action, written.request, index, made)
            ahead = (*ahead, guess)
            if not guess.leads_on:
                return ahead
    return ahead


def _guess(run: _Run, action: Action, request: int, segment: int, index: int) -> Protocol[_Guess]:
    """Record a guess; launch it if all that it can do is read."""
    setup = run.desk.setup
    step = Step(f"s{segment}.g{index}", action, setup.effect(action))
    launched = (
        step.effect is Effect.READ
        and not setup.external(action)
        and tool_of(action) not in run.distrusted
        and objection(setup, action) is None
    )
    seq = yield from tell(facts.step_speculated(step, segment, index, request, launched=launched))
    guess = _Guess(step, seq, segment, index)
    if not launched:
        return guess
    try:
        acted = yield from commands.act(action, step.effect, "speculative", step.position)
    except CommandFailed:  # nothing to take: the strong model's own read is asked again
        return guess
    step = replace(step, observation=acted.observation)
    if acted.after is not None and acted.before != acted.after:
        yield from tell(facts.effect_observed(step, acted, "speculative"))
        return replace(guess, step=replace(step, effect=Effect.WRITE), changed=True)
    return replace(guess, step=step)


def _irrevocable(run: _Run) -> Protocol[tuple[str, str] | None]:
    """Let a guess that cannot be thrown away stand, and lose the others; return why the strong message is void.

    A declared read that changed the state stays in the history, as it does everywhere; after one on which the
    environment ended the episode nothing can be done any more.
    """
    last = run.ahead[-1] if run.ahead else None
    if last is None or not (last.changed or last.over):
        return None
    if last.changed:
        run.ahead = run.ahead[:-1]
        run.ledger.commit(last.step)
    yield from _lose(run)
    if last.over:
        run.ledger.outcome = Outcome("completed", "environment_done")
    return _OVER if last.over else _MOVED


def _takes_guesses(run: _Run, segment: int) -> Execute:
    """Return what gives a step the observation of the guess that it equals, or else loses all guesses and executes."""
    execute_own = executes(run.ledger)

    def execute(step: Step, wrong: str | None) -> Protocol[Step]:
        guess = run.ahead[0].step if run.ahead else None
        if wrong is None and guess and guess.observation and same_action(guess.action, step.action):
            yield from tell(SpeculationMatched(segment=segment, position=step.position, guess=run.ahead[0].seq))
            run.ahead = run.ahead[1:]
            return replace(step, observation=guess.observation)
        yield from _lose(run)
        return (yield from execute_own(step, wrong))

    return execute


def _lose(run: _Run) -> Protocol[None]:
    """Throw away what lies ahead: the strong model went another way, or nowhere."""
    for segment, lost in groupby(run.ahead, key=lambda guess: guess.segment):
        numbers = [guess.index for guess in lost]
        gone = StepsDiscarded(segment=segment, start=numbers[0], end=numbers[-1], reason="speculation_lost")
        yield from tell(gone)
    run.ahead = ()
