"""The models that follow a script. The driver's own watcher tells them what they are asked for: nothing is guessed.

Every action and every reason carries a word of its own (`thing7`), so that a test can say which prompt speaks of which;
the move `again` is the one that repeats itself.
"""

import json
from dataclasses import dataclass, field
from itertools import count

from spectrace.core.events import (
    Body,
    GenerateRequested,
    SegmentCommitted,
    SpeculationMatched,
    StepDrafted,
    StepsDiscarded,
    StepSpeculated,
)
from spectrace.core.types import Action, Call, Completion, Finish, Message, ModelRequest, Reply, ToolCall, Usage
from spectrace.errors import ModelFailed
from tests.playbook import accept, reject, written
from tests.properties.scripts import FAILURES, FENCED, NO_VERDICTS, Judged, Script
from tests.properties.world import World

TOKENS = 15
"""Of every call."""
_UNUSABLE = {
    "prose": "I think it is fine.",
    "empty": "",
    "cut_off": '{"tool": "look", "arguments": {"id',
    "other_word": '{"verdict": "maybe"}',
    "contradiction": '{"verdict": "accept", "first_wrong": 1}',
    "out_of_range": reject(99),
}
_UNUSABLE_SCORES = {
    "contradiction": '{"yes": ["NaN"], "no": ["-1.0"]}',
    "out_of_range": '{"yes": [], "no": []}',
    "other_word": '{"yes": "-0.1", "no": null}',
}
_BATCHES = {
    "reads": ("read", "read"),
    "reads_and_write": ("read", "write", "read"),
    "write_and_reads": ("write", "read", "write"),
    "reads_and_unknown": ("read", "unknown_tool", "read"),
    "reads_and_lie": ("read", "lie", "read"),
}
_RIGHT_GUESSES = {"read", "reads", "write", "reads_and_write"}
"""Moves of the weak model that, where it guesses, become the strong model's own next one."""
_TOOLS = {"read": "look", FENCED: "look", "again": "look", "external": "search", "lie": "lie", "write": "change"}


@dataclass
class Stage:
    """The models of one episode."""

    script: Script
    world: World
    asked: dict[str, GenerateRequested] = field(default_factory=dict)
    """Who -> the question in hand."""
    drafted: list[tuple[int, Action]] = field(default_factory=list)
    """(segment, action) of the steps that are neither committed nor discarded: those that a review is about."""
    messages: list[tuple[Action, ...] | str] = field(default_factory=list)
    """What the strong model writes where it acts, made as far ahead as somebody looked."""
    acted: int = 0
    """How many of these it has written."""
    ahead: int = 0
    """Guesses that are neither taken nor lost."""
    words: "count[int]" = field(default_factory=lambda: count(1))
    judged: Judged = field(default_factory=lambda: Judged("accept"))
    """The review in hand: exact and scored ones take several calls."""
    judged_at: tuple[str, int] = ("", 0)

    def __post_init__(self) -> None:
        self._weak, self._strong = iter(self.script.weak), iter(self.script.strong)
        self._verdicts, self._user = iter(self.script.verdicts), iter(self.script.user)
        self._judgements, self._plan = iter(self.script.judgements), iter(self.script.plan)

    def watch(self, episode: str, seq: int, body: Body) -> None:
        match body:
            case GenerateRequested():
                self.asked[body.who] = body
            case StepDrafted():
                self.drafted.append((body.segment, body.action))
            case StepSpeculated():
                self.ahead += 1
            case SpeculationMatched():
                self.ahead -= 1
            case StepsDiscarded(reason="speculation_lost"):
                self.ahead = 0
            case SegmentCommitted(segment=segment) | StepsDiscarded(segment=segment, repair=False):
                self.drafted = [one for one in self.drafted if one[0] != segment]
            case _:
                pass

    def weak(self, request: ModelRequest) -> Completion:
        position = self.asked["weak"].position
        if position.endswith(".j"):
            return self._judges_itself()
        move = next(self._weak, "finish")
        if ".g" in position and move in _RIGHT_GUESSES:
            expected = self._message(max(self.acted - 1, 0) + self.ahead)
            if not isinstance(expected, str):
                return self._writes(expected[:1], native=self.script.native[0])
        return self._acts(move, native=self.script.native[0])

    def strong(self, request: ModelRequest) -> Completion:
        asked = self.asked["strong"]
        if asked.position.endswith(".j"):
            return self._judges_itself()
        if asked.position.endswith(".p"):
            move = next(self._plan, "plan")
            return self._says(move, _UNUSABLE.get(move, json.dumps({"plan": "look, then change"})))
        if asked.role != "reviewer":
            message = self._message(self.acted)
            self.acted += 1
            native = self.script.native[1]
            return (
                self._acts(message, native=native) if isinstance(message, str) else self._writes(message, native=native)
            )
        if request.scoring is not None and request.scoring.rejected is not None:  # the same review goes on
            return _completion(Message("assistant", json.dumps(self._explained())))
        segment, exact, number = asked.position.partition(".v")
        if not exact or number == "1" or self.judged_at == (segment, int(number)):  # the last: asked again
            self.judged = next(self._verdicts, Judged("accept"))
            self.world.version += self.judged.drifts
        if exact:
            self.judged_at = (segment, int(number))
            return self._acts_instead(int(number))
        if request.scoring is not None:
            return self._scores(request.scoring.steps)
        return self._judges(json.loads(asked.response_schema or ""))

    def user(self, request: ModelRequest) -> Completion:
        return self._says(next(self._user, "says"), "go on")

    def _message(self, number: int) -> tuple[Action, ...] | str:
        """Return the strong model's message of that number: its actions, or the move that makes none."""
        while len(self.messages) <= number:
            move = next(self._strong, "finish")
            broken = move in _UNUSABLE or move in FAILURES or move == FENCED
            self.messages.append(move if broken else tuple(self._action(name) for name in _BATCHES.get(move, (move,))))
        return self.messages[number]

    def _judges_itself(self) -> Completion:
        move = next(self._judgements, "progress")
        judged = json.dumps({"progress": move == "progress", "reason": f"because thing{next(self.words)}"})
        return self._says(move, _UNUSABLE.get(move, judged))

    def _acts(self, move: str, *, native: bool) -> Completion:
        if move in _UNUSABLE or move in FAILURES:
            return self._says(move, _UNUSABLE.get(move, ""))
        if move == FENCED and not native:
            return self._says(move, f"```json\n{written(self._action(move))}\n```")
        return self._writes(tuple(self._action(name) for name in _BATCHES.get(move, (move,))), native=native)

    def _writes(self, actions: tuple[Action, ...], *, native: bool) -> Completion:
        first = actions[0]
        if not native:
            return _completion(Message("assistant", written(first)))
        if not isinstance(first, Call):
            return _completion(Message("assistant", first.text))
        calls = tuple(ToolCall(f"call_{n}", a.tool, a.arguments) for n, a in enumerate(actions) if isinstance(a, Call))
        return _completion(Message("assistant", "", calls))

    def _action(self, name: str) -> Action:
        word = "same" if name == "again" else f"thing{next(self.words)}"
        match name:
            case "reply":
                return Reply(f"About {word}?")
            case "finish":
                return Finish(f"Done {word}.")
            case "unknown_tool":
                return Call("fly", json.dumps({"id": word}))
            case "bad_arguments":
                return Call("change", json.dumps({"name": word}))
            case _:
                return Call(_TOOLS[name], json.dumps({"id": word}))

    def _judges(self, schema: dict) -> Completion:
        """Write a verdict, as far as its schema's own list of step numbers goes."""
        says = self.judged.says
        match says:
            case "accept":
                return self._says(says, accept())
            case "accept_reason":
                return self._says(says, json.dumps({"verdict": "accept", "reason": "all fine"}))
            case "reject":
                drafted = schema["anyOf"][1]["properties"]["first_wrong"]["enum"][-1]
                told = {**json.loads(reject(self._wrong(drafted))), **self._explained()}
                return self._says(says, json.dumps(told))
            case _:
                return self._says(says, _UNUSABLE.get(says, ""))

    def _explained(self) -> dict:
        """Return why, and what to do instead."""
        match self.judged.replacement:
            case "null":
                replacement = None
            case "unreadable":
                replacement = {"bad": f"thing{next(self.words)}"}
            case name:
                replacement = json.loads(written(self._action(name)))
        return {"category": "other", "reason": f"because thing{next(self.words)}", "replacement": replacement}

    def _scores(self, steps: int) -> Completion:
        """Score every step; the first wrong one gets a *no*."""
        says = self.judged.says
        if says in NO_VERDICTS or says in FAILURES:
            return self._says(says, _UNUSABLE_SCORES.get(says, _UNUSABLE.get(says, "")))
        wrong = self._wrong(steps) if says == "reject" else 0
        yes = ["-3.5" if number == wrong else "-0.03" for number in range(1, steps + 1)]
        no = ["-0.03" if number == wrong else "-3.5" for number in range(1, steps + 1)]
        return self._says(says, json.dumps({"yes": yes, "no": no}))

    def _acts_instead(self, number: int) -> Completion:
        """Write the drafted action again, or (at the first wrong step) another."""
        says, name = self.judged.says, self.judged.replacement
        if says in NO_VERDICTS or says in FAILURES:
            return self._says(says, _UNUSABLE.get(says, ""))
        if says == "reject" and number == self._wrong(len(self.drafted)):
            return self._acts("read" if name in {"null", "unreadable"} else name, native=self.script.native[1])
        return self._writes((self.drafted[number - 1][1],), native=self.script.native[1])

    def _wrong(self, drafted: int) -> int:
        return {"first": 1, "middle": (drafted + 1) // 2, "last": drafted}[self.judged.where]

    def _says(self, move: str, text: str) -> Completion:
        if move in FAILURES:
            kind = "budget" if move.startswith("max_") else move
            raise ModelFailed(kind, move if kind == "budget" else f"scripted: {move}")
        return _completion(Message("assistant", text))


def _completion(message: Message) -> Completion:
    return Completion(message, finish_reason="stop", usage=Usage(input=10, output=TOKENS - 10))
