"""Who answers when a record is executed again: a fresh environment acts, models are answered from the record.

What the environment says is classed against what it said then (`core.observation_classes`). A difference that the
caller lets pass is counted and named, and the protocol goes on with the *recorded* text: the recorded models answered
to that. An identifier that is another one today is therefore put in its recorded one's place on the way out (actions,
what a simulated user said) and back on the way in (objections, questions to a model). Any other difference stands as
it is, and the comparison stops at it. Fingerprints, error flags and ends must be the same whatever the class.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from spectrace.core.commands import Act, Generate
from spectrace.core.events import ActCompleted, EpisodeStarted, EvaluateCompleted, Event, ResetCompleted
from spectrace.core.facts import tool_of
from spectrace.core.observation_classes import ORDER, PASSABLE, Classified, ObservationClass, classify
from spectrace.core.renaming import Renaming
from spectrace.core.types import Action, Call, Completion, Finish, Message, NeedsModel, Reply
from spectrace.environments.environment import Environment
from spectrace.environments.volatile import volatile_places
from spectrace.errors import ReplayDiverged, UsageError
from spectrace.redaction.redactor import Redactor
from spectrace.runs.divergence import named
from spectrace.runs.recording import RecordedSource, RecordEnds, Recording
from spectrace.runs.redacting import redacting
from spectrace.runs.sources import Generated, Graded, Limits, LiveSource, Observed, Opened

_SHOWN = 200
"""Characters of an answer that a message repeats."""

_TEXTS: Mapping[type[object], str] = {
    ActCompleted: "/observation/content",
    EvaluateCompleted: "/detail",
    ResetCompleted: "/messages",
}
"""Where an answer has its text."""


@dataclass(frozen=True, slots=True)
class Passing:
    """Which classes the caller lets pass beside `exact`, and the places that it calls volatile.

    `places`: (tool, JSON pointer); for what is no tool's answer the tool is reply, finish, reset or evaluate. Naming a
    place is letting it pass; one that the environment declares itself passes where `volatile` is among `classes`.
    """

    classes: frozenset[ObservationClass] = frozenset()
    places: tuple[tuple[str, str], ...] = ()


STRICT = Passing()


def passing_of(accept: Iterable[str] = (), volatile: Iterable[str] = ()) -> Passing:
    """Read the names of classes, and places as `TOOL:POINTER`; raise UsageError for what is neither."""
    return Passing(frozenset(map(_class, accept)), tuple(map(_place, volatile)))


def _class(name: str) -> ObservationClass:
    if name not in PASSABLE:
        raise UsageError(f"what may be accepted is {', '.join(PASSABLE)}, found {name!r}.")
    return ObservationClass(name)


def _place(text: str) -> tuple[str, str]:
    tool, colon, pointer = text.partition(":")
    if not tool or not colon or (pointer and not pointer.startswith("/")):
        raise UsageError(
            "a volatile place is TOOL:POINTER, for example get_order:/created_at or list:/*/age (TOOL: is its whole "
            f"answer), found {text!r}."
        )
    return tool, pointer


@dataclass(frozen=True, slots=True)
class Inexact:
    """An answer of the environment that is not exactly the recorded one: its event, its class and what was found."""

    seq: int
    kind: str
    notes: tuple[str, ...]


@dataclass(slots=True)
class Tally:
    """The classes of an episode's answers so far: opening, observations, grade."""

    count: Counter[str] = field(default_factory=Counter)
    inexact: list[Inexact] = field(default_factory=list)

    @property
    def classes(self) -> dict[str, int]:
        """Every class with its count, 0 included."""
        return {kind.value: self.count[kind.value] for kind in ORDER}


class Reexecution:
    """A fresh environment executes; models are answered from the record, an import's user from its observations."""

    def __init__(  # noqa: PLR0913 - what is compared, with what, and how
        self,
        recording: Recording,
        environment: Environment,
        started: EpisodeStarted,
        passing: Passing,
        said: Mapping[int, str] | None = None,
        redactor: Redactor | None = None,
    ) -> None:
        """`said`: of an import, what the user said, by the question that it answered; its file words no grade."""
        self._recording = recording
        self._record = RecordedSource(recording)
        self._live = redacting(LiveSource(environment, {}, Limits(), started.models), redactor)
        self._passing = passing
        self._declared = volatile_places(environment)
        self._said = said or {}
        self._imported = said is not None
        self._renaming = Renaming((started.task.request, started.task.data, started.instructions))
        self.tally = Tally()

    async def generate(self, lane: str, request: int, command: Generate) -> Generated:
        """Return the recorded answer."""
        return await self._record.generate(lane, request, command)

    async def act(self, lane: str, request: int, command: Act) -> Observed | NeedsModel:
        """Execute the action, under today's names."""
        action = self._today(command.action)
        answer = await self._live.act(lane, request, self._resumed(replace(command, action=action)))
        while isinstance(answer, NeedsModel) and request in self._said:
            spoken = replace(command, action=action, supplied=self._spoken(request))
            answer = await self._live.act(lane, request, spoken)
        if isinstance(answer, NeedsModel):
            return self._asked(answer)
        for one in (command.action, action):
            self._renaming.saw(_text(one))
        where = tool_of(action) or ("reply" if isinstance(action, Reply) else "finish")
        recorded = self._recorded(request, ActCompleted)
        if recorded is None:
            return answer
        content = self._answered(recorded, where, recorded_text(recorded), answer.observation.content)
        return replace(answer, observation=replace(answer.observation, content=content))

    async def reset(
        self, lane: str, request: int, seed: int | None, supplied: Completion | None
    ) -> Opened | NeedsModel:
        """Begin the task."""
        answer = await self._live.reset(lane, request, seed, self._forward(supplied))
        while isinstance(answer, NeedsModel) and request in self._said:
            answer = await self._live.reset(lane, request, seed, self._spoken(request))
        if isinstance(answer, NeedsModel):
            return self._asked(answer)
        recorded = self._recorded(request, ResetCompleted)
        then = () if recorded is None or not isinstance(recorded.body, ResetCompleted) else recorded.body.messages
        now = answer.opening.messages
        if recorded is None or len(then) != len(now):
            return answer
        messages = tuple(
            replace(one, content=self._answered(recorded, "reset", was.content, one.content))
            for was, one in zip(then, now, strict=True)
        )
        return replace(answer, opening=replace(answer.opening, messages=messages))

    async def evaluate(self, lane: str, request: int, supplied: Completion | None) -> Graded | NeedsModel:
        """Let the environment grade."""
        answer = await self._live.evaluate(lane, request, self._forward(supplied))
        if isinstance(answer, NeedsModel):
            return self._asked(answer)
        recorded = self._recorded(request, EvaluateCompleted)
        if recorded is None or self._imported:
            return answer
        detail = self._answered(recorded, "evaluate", recorded_text(recorded), answer.evaluation.detail)
        return replace(answer, evaluation=replace(answer.evaluation, detail=detail))

    async def check(self, lane: str, action: Action) -> str | None:
        """Ask the environment about the action under today's names."""
        objection = await self._live.check(lane, self._today(action))
        return None if objection is None else self._renaming.back(objection)

    def _recorded(self, request: int, kind: type[object]) -> Event | None:
        """Return the recorded answer, if it is one."""
        try:
            event = self._recording.answer(request)
        except RecordEnds:
            return None
        return event if isinstance(event.body, kind) else None

    def _answered(self, recorded: Event, where: str, then: str, now: str) -> str:
        """Class what the environment says; return the recorded text where the difference passes, else today's."""
        named = tuple(pointer for tool, pointer in self._passing.places if tool == where)
        declared = tuple(one for one in self._declared.get(where, ()) if one not in named)
        passing = self._passing.classes | ({ObservationClass.VOLATILE} if named else set())
        found = classify(then, now, self._renaming, named, passing)
        if declared and not _passes(found, passing):
            passing = self._passing.classes
            found = classify(then, now, self._renaming, (*named, *declared), passing)
        passes = _passes(found, passing)
        self.tally.count[found.kind.value] += 1
        if found.kind is not ObservationClass.EXACT:
            self.tally.inexact.append(Inexact(recorded.seq, found.kind.value, found.notes))
        if passes:
            self._renaming.take(found.pairs)
        elif found.needs:
            lacking = ",".join(kind for kind in ORDER if kind in found.needs - passing)
            why = f"It is {found.kind.value} ({'; '.join(found.notes) or 'the same JSON'})"
            self._recording.remarks[recorded.seq] = f"{why}: --accept {lacking} lets that pass."
        elif found.notes:
            self._denied(recorded, then, found.notes)
        self._renaming.saw(then)
        self._renaming.saw(now)
        return then if passes else now

    def _denied(self, recorded: Event, then: str, notes: Sequence[str]) -> None:
        """Diverge here: nothing that compares texts could see that the same one names another thing today."""
        expected = self._renaming.forward(then)
        raise ReplayDiverged(
            recorded.seq,
            f"event {recorded.seq} ({named(recorded.body)}) is the same text and another answer: {'; '.join(notes)}.",
            ((_TEXTS.get(type(recorded.body), ""), expected[:_SHOWN], then[:_SHOWN]),),
        )

    def _today(self, action: Action) -> Action:
        match action:
            case Call(arguments=arguments):
                return replace(action, arguments=self._renaming.forward(arguments))
            case Reply(text=text) | Finish(text=text):
                return replace(action, text=self._renaming.forward(text))

    def _asked(self, needs: NeedsModel) -> NeedsModel:
        """Return a question of the environment's under the recorded names."""
        messages = tuple(replace(one, content=self._renaming.back(one.content)) for one in needs.request.messages)
        return replace(needs, request=replace(needs.request, messages=messages))

    def _resumed(self, command: Act) -> Act:
        return replace(command, supplied=self._forward(command.supplied))

    def _forward(self, supplied: Completion | None) -> Completion | None:
        if supplied is None:
            return None
        message = replace(supplied.message, content=self._renaming.forward(supplied.message.content))
        return replace(supplied, message=message)

    def _spoken(self, request: int) -> Completion | None:
        return self._forward(Completion(Message("assistant", self._said[request])))


def _passes(found: Classified, passing: AbstractSet[ObservationClass]) -> bool:
    return found.kind is not ObservationClass.DIVERGENT and found.needs <= passing


def recorded_text(event: Event) -> str:
    """Return what an environment's recorded answer says."""
    match event.body:
        case ActCompleted(observation=observation):
            return observation.content
        case EvaluateCompleted(detail=detail):
            return detail
        case ResetCompleted(messages=messages):
            return next((one.content for one in reversed(messages) if one.role == "user"), "")
        case _:
            return ""


def user_texts(events: Sequence[Event]) -> dict[int, str]:
    """Return what an import's user said, by the question it answered: acts, and the opening."""
    return {
        event.body.request: recorded_text(event)
        for event in events
        if isinstance(event.body, ActCompleted | ResetCompleted)
    }


def _text(action: Action) -> str:
    return action.arguments if isinstance(action, Call) else action.text
