"""Made-up episodes that hold every event type: for `conformance`, and what dictionary 1 was trained on.

Their words are drawn at random, so that nothing but the envelope repeats: a dictionary learns field names, closed sets
of values and the shapes of ids and digests, and no text of anybody's.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from spectrace.core import events as e
from spectrace.core.digest import digest_of, text_digest
from spectrace.core.types import (
    Action,
    Attempt,
    Call,
    Effect,
    EnvironmentFacts,
    Finish,
    Message,
    ModelFacts,
    Observation,
    Reply,
    Task,
    ToolCall,
    ToolSpec,
    Usage,
)
from spectrace.store.event_store import Pending
from spectrace.store.rival_samples import rivals

EPOCH_US = 1_700_000_000_000_000
PRICE = '{"input":"3","cached":"0.3","output":"15","since":"2026-01-01","source":"made up"}'
# A copy on purpose: dictionaries are trained on these samples, which must not follow later vocabularies.
CATEGORIES = (
    "wrong_tool",
    "wrong_arguments",
    "premature",
    "missing_information",
    "policy_violation",
    "redundant",
    "unsafe",
    "ungrounded",
    "other",
)


def sample_episode(seed: int, segments: int = 4) -> list[e.Body]:
    """Return a plausible episode's bodies, from `episode.started` to `episode.ended`; equal for equal arguments."""
    return Sample(random.Random(seed)).bodies(segments)  # noqa: S311 - reproducible, not secret


def pending(bodies: Sequence[e.Body], first: int = 0) -> list[Pending]:
    """Return the bodies as events that follow on from number `first`."""
    return [Pending(seq, "", EPOCH_US + 1_000 * seq, body) for seq, body in enumerate(bodies, start=first)]


@dataclass(slots=True)
class Sample:
    """One episode in the making; `rehearsal` makes the same events in other words."""

    random: random.Random
    made: list[e.Body] = field(default_factory=list)
    history: list[Message] = field(default_factory=list)
    writes: int = 0

    def bodies(self, segments: int) -> list[e.Body]:
        """Return the whole episode."""
        tools = tuple(self.tool(effect) for effect in (Effect.READ, Effect.READ, Effect.WRITE, Effect.WRITE))
        self.made.append(self.started(tools))
        self.opening()
        for segment in range(1, segments + 1):
            self.segment(segment, tools)
        self.odd_ones(tools)
        self.made += rivals(self.last, self.action(tools[0].name), self.text)
        self.made.append(e.EvaluateRequested())
        self.made.append(
            e.EvaluateCompleted(
                request=self.last,
                reward="1",
                detail="{}",
                fingerprint=self.digest(),
                latency_us=self.us(),
                source="live",
            )
        )
        self.made.append(
            e.EvaluateFailed(request=self.last - 1, kind="timeout", error=self.text(5), latency_us=None, source="live")
        )
        totals = e.Totals(steps=4 * segments, segments=segments, weak_calls=4 * segments, strong_calls=segments)
        self.made.append(
            e.EpisodeEnded(outcome="completed", reason="finish", answer=self.text(30), reward="1", totals=totals)
        )
        return self.made

    @property
    def last(self) -> int:
        """The number of the newest event."""
        return len(self.made) - 1

    def words(self, count: int) -> str:
        """Return that many words."""
        letters = "abcdefghijklmnopqrstuvwxyz"
        return " ".join("".join(self.random.choices(letters, k=self.random.randint(2, 9))) for _ in range(count))

    def text(self, most: int) -> str:
        """Return at most that many words."""
        return self.words(self.random.randint(1, most))

    def name(self) -> str:
        """Return a name."""
        return self.words(2).replace(" ", "_")

    def digest(self) -> str:
        """Return the digest of something."""
        return text_digest(self.words(3))

    def us(self) -> int:
        """Return a duration."""
        return self.random.randint(900, 20_000_000)

    def tool(self, effect: Effect) -> ToolSpec:
        """Return a tool."""
        schema = {"type": "object", "properties": {self.name(): {"type": "string"}}, "required": [self.name()]}
        return ToolSpec(self.name(), self.text(12), json.dumps(schema), effect, "declared", external=False)

    def action(self, tool: str) -> Call:
        """Return a call of the tool."""
        return Call(tool, json.dumps({self.name(): self.text(2), self.name(): self.random.randint(1, 9999)}))

    def started(self, tools: tuple[ToolSpec, ...]) -> e.EpisodeStarted:
        """Begin the episode."""
        environment = EnvironmentFacts(
            name=self.name(),
            package="spectrace",
            version="0.1.0",
            restore=self.random.choice(("reset", "snapshot", "none")),
            data=((self.name(), self.digest()),),
            fingerprint=self.digest(),
            replies=True,
        )
        models = tuple(
            ModelFacts(
                role, provider, self.name(), "http://127.0.0.1:30000/v1", '{"temperature": 0}', calls, price=price
            )
            for role, provider, calls, price in (
                ("weak", self.random.choice(("local", "sglang")), "json", None),
                ("strong", self.random.choice(("openai", "sglang")), "native", PRICE),
            )
        )
        return e.EpisodeStarted(
            project=self.name(),
            labels=((self.name(), self.name()),),
            started_by=e.StartedBy(self.name(), self.name()),
            operator=None,
            task=Task(self.name(), self.text(40)),
            task_digest=self.digest(),
            environment=environment,
            instructions=self.words(120),
            tools=tools,
            tools_digest=digest_of([spec.name for spec in tools]),
            protocol="specagent",
            protocol_revision=1,
            options=json.dumps({"k": 6, "acceptance": "semantic", "fused": True, "hold": "writes"}),
            prompts=json.dumps({self.name(): self.words(60)}),
            models=models,
            seed=self.random.randint(0, 2**31),
            trial=0,
            run=self.name(),
            versions=e.Versions("0.1.0", "3.11.7"),
            concurrency=8,
        )

    def opening(self) -> None:
        """Reset the environment, which opens the dialogue."""
        self.made.append(e.ResetRequested(seed=self.random.randint(0, 2**31)))
        self.history = [Message("system", self.words(150)), Message("user", self.text(40))]
        self.made.append(
            e.ResetCompleted(
                request=self.last,
                messages=tuple(self.history[1:]),
                done=False,
                fingerprint=self.digest(),
                latency_us=self.us(),
                source="live",
            )
        )

    def ask(self, role: str, who: str, position: str, answer: Message) -> int:
        """Ask a model; return the event's number."""
        asked = e.GenerateRequested(
            role=role,
            who=who,
            position=position,
            messages=tuple(self.history),
            tools_digest=self.random.choice((None, self.digest())),
            response_schema=self.random.choice((None, json.dumps({"type": "object", "additionalProperties": False}))),
            parameters=json.dumps({"temperature": 0, "max_tokens": 512}),
        )
        self.made.append(asked)
        request = self.last
        self.made.append(
            e.GenerateCompleted(
                request=request,
                role=role,
                message=answer,
                reasoning=self.random.choice((None, self.text(30))),
                finish_reason=self.random.choice(("stop", "tool_calls")),
                model=self.name(),
                usage=Usage(self.random.randint(500, 9000), self.random.randint(0, 500), self.random.randint(5, 300)),
                latency_us=self.us(),
                first_token_us=self.us(),
                attempts=(Attempt(0, self.us()),),
                provider_id=f"chatcmpl-{self.random.getrandbits(96):024x}",
                server=self.random.choice((None, "{}")),
                source="live",
            )
        )
        return request

    def segment(self, segment: int, tools: tuple[ToolSpec, ...]) -> None:
        """Draft reads and a write, review them, then commit or repair."""
        reads = self.random.randint(1, 3)
        for index in range(1, reads + 1):
            self.step(segment, index, tools[index % 2])
        held = self.draft(segment, reads + 1, tools[2])
        shown = {"effect": "write", "tool": tools[2].name, "segment": segment, "index": reads + 1}
        self.made.append(e.ActionHeld(**shown, position=f"s{segment}.{reads + 1}", action=held))  # type: ignore[arg-type]
        self.made.append(e.SegmentClosed(segment=segment, steps=reads + 1, reason="held"))
        rejected = segment % 2 == 0
        verdict = self.verdict(segment, reads, tools[3] if rejected else None)
        end = reads if rejected else reads + 1
        self.made.append(e.SegmentCommitted(segment=segment, start=1, end=end, reviewed="yes"))
        if rejected:
            self.made.append(e.StepsDiscarded(segment=segment, start=reads + 1, end=reads + 1, reason="rejected"))
            action = self.action(tools[3].name)
            self.made.append(
                e.RepairMade(
                    tool=action.tool,
                    segment=segment,
                    verdict=verdict,
                    kind=self.random.choice(("fused", "corrective")),
                    actions=(action,),
                    fused_unusable=None,
                    objections=(None,),
                )
            )
            self.act(f"s{segment}.r1", action, "write", f"repair:{self.last}")
        else:
            self.act(f"s{segment}.{reads + 1}", held, "write", f"verdict:{verdict}")

    def draft(self, segment: int, index: int, tool: ToolSpec) -> Call:
        """Draft a call."""
        action, position = self.action(tool.name), f"s{segment}.{index}"
        said = Message("assistant", self.text(20), (ToolCall(position, action.tool, action.arguments),))
        request = self.ask("drafter", "weak", position, said)
        self.history.append(said)
        self.made.append(
            e.StepDrafted(
                effect=tool.effect.value,
                tool=tool.name,
                segment=segment,
                index=index,
                position=position,
                action=action,
                request=request,
            )
        )
        return action

    def step(self, segment: int, index: int, tool: ToolSpec) -> None:
        """Draft a read and execute it."""
        action = self.draft(segment, index, tool)
        self.act(f"s{segment}.{index}", action, "read", "read")

    def act(self, position: str, action: Action, effect: str, authority: str) -> None:
        """Execute an action."""
        tool = action.tool if isinstance(action, Call) else None
        self.made.append(
            e.ActRequested(
                effect=effect,
                authority=authority,
                tool=tool,
                position=position,
                action=action,
                requestor="agent",
                idempotency_key=f"{self.random.getrandbits(128):032x}",
            )
        )
        content, before = self.words(self.random.randint(5, 120)), self.digest()
        self.made.append(
            e.ActCompleted(
                effect=effect,
                authority=authority,
                outcome=self.random.choice(("ok", "ok", "ok", "error")),
                tool=tool,
                request=self.last,
                position=position,
                observation=Observation(content),
                fingerprint_before=before,
                fingerprint_after=before if effect == "read" else self.digest(),
                latency_us=self.us(),
                source="live",
            )
        )
        self.history.append(Message("tool", content, (), position))

    def verdict(self, segment: int, reads: int, replacement: ToolSpec | None) -> int:
        """Review the segment; return the event's number."""
        action = None if replacement is None else self.action(replacement.name)
        category = None if action is None else self.random.choice(CATEGORIES)
        raw = json.dumps({"verdict": "accept"} if action is None else {"verdict": "reject", "category": category})
        review = self.ask("reviewer", "strong", f"s{segment}", Message("assistant", raw))
        self.made.append(
            e.VerdictGiven(
                outcome="accept" if action is None else "reject",
                segment=segment,
                drafted=reads + 1,
                accepted=reads + 1 if action is None else reads,
                category=category,
                reason=None if action is None else self.text(30),
                replacement=action,
                status="ok",
                cause=None,
                raw=raw,
                review=review,
            )
        )
        return self.last

    def odd_ones(self, tools: tuple[ToolSpec, ...]) -> None:
        """Add one of each type that an ordinary episode does not have."""
        tool, request = tools[3].name, self.last
        self.made += [
            e.ReplyUnusable(role="reviewer", request=request, cause=self.text(9), next="asked_again"),
            e.GenerateFailed(
                request=request,
                role="reviewer",
                kind="timeout",
                error=self.text(9),
                partial_text=self.text(9),
                usage=Usage(),
                latency_us=self.us(),
                attempts=(Attempt(0, self.us(), "timeout"),),
                source="live",
            ),
            e.ActFailed(
                effect="write",
                authority="actor",
                outcome="indeterminate",
                tool=tool,
                request=request,
                position="s9.1",
                kind="timeout",
                error=self.text(9),
                latency_us=self.us(),
                source="live",
            ),
            e.ResetFailed(request=request, kind="crashed", error=self.text(9), latency_us=None, source="live"),
            e.ActionChecked(tool=tool, action=self.action(tool), objection=self.random.choice((None, self.text(9)))),
            e.ActionChecked(tool=None, action=Reply(self.text(9)), objection=None),
            e.ActionChecked(tool=None, action=Finish(self.text(9)), objection=None),
            e.ToolsChanged(tools=tools, tools_digest=self.digest()),
            e.EffectObserved(
                effect="write",
                authority="unreviewed",
                tool=tool,
                request=request,
                fingerprint_before=self.digest(),
                fingerprint_after=self.digest(),
            ),
            e.StateMoved(position="s9.1", fingerprint_held=self.digest(), fingerprint_executed=self.digest()),
            e.OutcomeSettled(authority=f"person:{self.name()}", outcome="ok", request=request, evidence=self.text(20)),
        ]
