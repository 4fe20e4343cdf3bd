"""Made-up episodes in plain English with everyday records: what dictionaries 2 (bodies) and 3 (blobs) are trained on.

The events are those of `samples`, in the shapes that real ones have: tools called natively or as JSON text, reviews
with reasons, tools that answer with records. The sentences were written for this (`dictionaries/english.txt`), the
records are made up by `records`: nothing comes from anybody's log or from a benchmark, so what a dictionary is said to
save is what it saves on data that it never saw.
"""

import json
import random
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import TypeVar

from spectrace.core import events as e
from spectrace.core.prompts import Prompts
from spectrace.core.types import (
    Action,
    Attempt,
    Call,
    Effect,
    Finish,
    Message,
    ModelFacts,
    Observation,
    Reply,
    ToolCall,
    ToolSpec,
    Usage,
)
from spectrace.store import records
from spectrace.store.samples import CATEGORIES, Sample

_Made = TypeVar("_Made", bound=e.Body)
_Value = TypeVar("_Value")

_MODELS = ("gpt-4.1-mini", "claude-sonnet-4", "Qwen/Qwen3-8B", "Qwen3-32B-Instruct", "llama-3.3-70b-instruct", "weak")
_PLACES = ("shop", "desk", "mcp:tools.json", "tools:env")
_SPACING = ((",", ":"), (", ", ": "), (", ", ": "))
_LONG_TEXT_WORDS = 60


def rehearsed_episode(seed: int, segments: int = 4) -> list[e.Body]:
    """Return an episode's bodies; equal for equal arguments."""
    chance = random.Random(seed)  # noqa: S311 - reproducible, not secret
    return Rehearsal(chance, native=chance.random() < 0.6, watched=chance.random() < 0.5).bodies(segments)  # noqa: PLR2004 - chances


@cache
def sentences() -> tuple[str, ...]:
    """Return the English sentences."""
    path = files("spectrace.store").joinpath("dictionaries", "english.txt")
    return tuple(path.read_text(encoding="utf-8").splitlines())


class Rehearsal(Sample):
    """A sample episode in other words."""

    def __init__(self, chance: random.Random, *, native: bool, watched: bool) -> None:
        """`native`: the models call tools natively; `watched`: the environment has a fingerprint."""
        super().__init__(chance)
        self.native = native
        self.watched = watched
        self.weak, self.strong = chance.choice(_MODELS), chance.choice(_MODELS)
        self.state = self.digest() if watched else None

    def words(self, count: int) -> str:
        """Return sentences of that many words in all, now and then from the middle of one on."""
        said = ""
        while said.count(" ") < count:
            said += self.random.choice(sentences()) + self.random.choice(" \n" if count > _LONG_TEXT_WORDS else "  \n")
        first = self.random.choice((0, 0, 0, self.random.randrange(40)))
        return " ".join(said[first:].split(" ")[: count + 1]).strip()

    def name(self) -> str:
        """Return a tool's name or an id."""
        return str(self.one_of(records.tool_name(self.random), records.identifier(self.random)))

    def tool(self, effect: Effect) -> ToolSpec:
        """Return a tool."""
        schema = json.dumps(records.parameters_schema(self.random))
        return ToolSpec(records.tool_name(self.random), self.words(8), schema, effect, "declared", external=False)

    def action(self, tool: str) -> Call:
        """Return a call of the tool."""
        return Call(tool, json.dumps(records.arguments(self.random)))

    def started(self, tools: tuple[ToolSpec, ...]) -> e.EpisodeStarted:
        """Begin the episode."""
        plain = super().started(tools)
        url, calls = "http://127.0.0.1:30000/v1", "native" if self.native else "json"
        provider = self.one_of("openai", "sglang", "anthropic")
        return replace(
            plain,
            started_by=e.StartedBy(self.one_of("root", "user", "ci"), self.one_of("localhost", "worker-1")),
            project=self.one_of("default", "bench", "eval"),
            labels=(),
            environment=replace(plain.environment, data=(), fingerprint=self.state, name=self.one_of(*_PLACES)),
            prompts=Prompts().to_json(),
            models=(
                ModelFacts("weak", "sglang", self.weak, url, self.parameters(), calls),
                ModelFacts("strong", provider, self.strong, None, self.parameters()),
            ),
            seed=self.one_of(None, 0, 1, 42),
            run=self.one_of(None, None, "baseline"),
        )

    def opening(self) -> None:
        """Open the dialogue with the shipped system prompt."""
        super().opening()
        self.history[0] = Message("system", Prompts().strong.replace("$instructions", self.words(150)))
        self.made[-1] = replace(self.made_as(e.ResetCompleted, 1), fingerprint=self.state)

    def ask(self, role: str, who: str, position: str, answer: Message) -> int:
        """Ask a model; return the event's number."""
        request = super().ask(role, who, position, answer)
        spent, latency = self.random.randint(300, 15_000), self.us()
        self.made[-2] = replace(
            self.made_as(e.GenerateRequested, 2),
            parameters=self.parameters(),
            tools_digest=self.digest() if self.native else None,
            response_schema=None if self.native else self.schema(),
        )
        self.made[-1] = replace(
            self.made_as(e.GenerateCompleted, 1),
            reasoning=self.one_of(None, self.words(self.random.randint(5, 60))),
            finish_reason="tool_calls" if answer.calls else "stop",
            model=self.weak if who == "weak" else self.strong,
            usage=Usage(spent, self.one_of(None, 0, spent * 9 // 10), self.random.randint(10, 400)),
            latency_us=latency,
            first_token_us=self.one_of(None, None, latency // 3),
            attempts=self.one_of((), (Attempt(0, latency),), (Attempt(0, latency),)),
            provider_id=self.one_of(
                None, f"chatcmpl-{self.hexadecimal(24)}", f"msg_{self.hexadecimal(24)}", self.uuid()
            ),
            server=self.server(),
        )
        return request

    def draft(self, segment: int, index: int, tool: ToolSpec) -> Call:
        """Draft a call, natively or as JSON text."""
        action = super().draft(segment, index, tool)
        said = Message("assistant", f'{{"tool": "{action.tool}", "arguments": {action.arguments}}}')
        if self.native:
            id_ = self.one_of(f"s{segment}.{index}", f"call_{self.hexadecimal(24)}")
            spoken = self.one_of("", self.words(15), self.words(30))
            said = Message("assistant", spoken, (ToolCall(id_, action.tool, action.arguments),))
        reason = "tool_calls" if self.native else "stop"
        self.made[-2] = replace(self.made_as(e.GenerateCompleted, 2), message=said, finish_reason=reason)
        self.history[-1] = said
        return action

    def act(self, position: str, action: Action, effect: str, authority: str) -> None:
        """Act, and see a record or a sentence."""
        super().act(position, action, effect, authority)
        content = self.one_of(*(records.answer(self.random) for _ in range(3)), self.words(self.random.randint(1, 25)))
        before, self.state = self.state, self.digest() if self.watched and effect == "write" else self.state
        key = f"{self.hexadecimal(16)}:{position}"
        self.made[-2] = replace(self.made_as(e.ActRequested, 2), idempotency_key=key)
        self.made[-1] = replace(
            self.made_as(e.ActCompleted, 1),
            observation=Observation(content),
            fingerprint_before=before,
            fingerprint_after=self.state,
            latency_us=self.random.randint(200, 90_000),
        )
        calls = self.history[-2].calls
        seen = Message("tool", content, (), calls[0].id if calls else position)
        self.history[-1] = seen if self.native else Message("user", f"[{position}] {content}")

    def verdict(self, segment: int, reads: int, replacement: ToolSpec | None) -> int:
        """Review the segment, with a reason where there is one; return the event's number."""
        action = None if replacement is None else self.action(replacement.name)
        reason = self.words(self.random.randint(8, 40)) if action is not None else self.one_of(None, self.words(20))
        category = None if action is None else self.random.choice(CATEGORIES)
        told: dict[str, object] = {"verdict": "accept"} if reason is None else {"verdict": "accept", "reason": reason}
        if action is not None:
            step = {"tool": action.tool, "arguments": json.loads(action.arguments)}
            told = {"verdict": "reject", "first_wrong": reads + 1, "category": category}
            told |= {"reason": reason, "replacement": step}
        raw = json.dumps(told, separators=self.one_of(*_SPACING))
        review = self.ask("reviewer", "strong", f"s{segment}", Message("assistant", raw))
        self.made.append(
            e.VerdictGiven(
                outcome="accept" if action is None else "reject",
                segment=segment,
                drafted=reads + 1,
                accepted=reads + 1 if action is None else reads,
                category=category,
                reason=reason,
                replacement=action,
                status="ok",
                cause=None,
                raw=raw,
                review=review,
                probabilities=self.one_of(None, None, '{"accept": "0.9312", "reject": "0.0688"}'),
            )
        )
        self.speak(segment, review)
        return self.last - 1

    def speak(self, segment: int, request: int) -> None:
        """Say something to the user, who answers."""
        spoken = Reply(self.words(30)) if self.random.getrandbits(1) else Finish(self.words(20))
        shown = {"segment": segment, "index": 1, "position": f"s{segment}.1", "request": request}
        self.made.append(e.StepDrafted(effect="reply", tool=None, action=spoken, **shown))  # type: ignore[arg-type]
        self.history += [Message("assistant", spoken.text), Message("user", self.words(self.random.randint(4, 40)))]

    def made_as(self, cls: type[_Made], back: int) -> _Made:
        """Return the event so far back, which is of that class."""
        body = self.made[-back]
        if not isinstance(body, cls):
            msg = f"expected {cls.TYPE}, found {body.TYPE}"
            raise TypeError(msg)
        return body

    def one_of(self, *values: _Value) -> _Value:
        """Return one of the values."""
        return self.random.choice(values)

    def hexadecimal(self, digits: int) -> str:
        """Return random digits."""
        return f"{self.random.getrandbits(4 * digits):0{digits}x}"

    def uuid(self) -> str:
        """Return a UUID."""
        return "-".join(self.hexadecimal(digits) for digits in (8, 4, 4, 4, 12))

    def parameters(self) -> str:
        """Return sampling parameters."""
        chosen = {"temperature": self.one_of(0, 0.0, 0.7), "top_p": 1.0, "max_tokens": self.one_of(512, 1024, 2048)}
        kept = self.random.sample(list(chosen), self.random.randint(0, 3))
        seed = {"seed": self.random.randint(0, 60)} if self.random.getrandbits(1) else {}
        return json.dumps(
            {name: value for name, value in chosen.items() if name in kept} | seed, separators=self.one_of(*_SPACING)
        )

    def server(self) -> str | None:
        """Return what a server says of itself with an answer."""
        told = self.one_of(
            None,
            {"endpoint": f"sglang-{self.random.randrange(8)}", "weight_version": "default"},
            {"system_fingerprint": f"fp_{self.hexadecimal(10)}", "logprob_mean": -round(self.random.random(), 6)},
        )
        return None if told is None else json.dumps(told, separators=self.one_of(*_SPACING))

    def schema(self) -> str:
        """Return the JSON Schema of a reply."""
        tool, arguments = {"const": records.tool_name(self.random)}, records.parameters_schema(self.random)
        properties = {"tool": tool, "arguments": arguments}
        call = {"type": "object", "properties": properties, "required": ["tool", "arguments"]}
        return json.dumps({"anyOf": [call | {"additionalProperties": False}]})
