"""One source event after another -> spectrace's events, grouped in steps. Counterpart of `corpus`, which uses it."""

import json
from dataclasses import dataclass, field, replace
from typing import Any

from spectrace.core.digest import task_digest, tools_digest
from spectrace.core.events import (
    ActCompleted,
    ActRequested,
    Body,
    EpisodeEnded,
    EpisodeStarted,
    GenerateCompleted,
    GenerateRequested,
    StartedBy,
    StepDrafted,
    VerdictGiven,
    Versions,
)
from spectrace.core.types import (
    Action,
    Attempt,
    Call,
    EnvironmentFacts,
    Message,
    ModelFacts,
    Observation,
    Reply,
    Task,
    ToolCall,
    Usage,
)


@dataclass(slots=True)
class Mapping:
    """Takes the source's events in order, and holds what they became."""

    id: str
    started: EpisodeStarted | None = None
    ended: EpisodeEnded | None = None
    steps: list[list[Body]] = field(default_factory=list)
    seq: int = 1
    """The next event's number."""
    messages: dict[int, Message] = field(default_factory=dict)
    """By identity of the source's: it too repeats the same objects."""
    segment: int = 0
    acts: int = 0
    """How many actions of this step were sent."""
    call: dict[str, Any] = field(default_factory=dict)
    """The step's model_call."""
    server: dict[str, Any] = field(default_factory=dict)
    answered: int = 0
    """Where the step's generate.completed stands, which the drafted step adds to."""
    authority: str = "unreviewed"

    def event(self, type_: str, payload: dict[str, Any]) -> None:
        match type_:
            case "episode_started":
                self.started = started(payload)
            case "model_call":
                self._model_call(payload)
            case "drafted_step":
                self._drafted(payload)
            case "verdict":
                self._verdict(payload)
            case "tool_observation":
                self._observation(payload)
            case "episode_finished":
                self.ended = EpisodeEnded(
                    outcome="completed", reason=payload["status"], answer=None, reward=str(payload["reward"])
                )
            case _:
                msg = f"the generator has no event {type_!r}"
                raise ValueError(msg)

    def _add(self, body: Body) -> int:
        self.steps[-1].append(body)
        self.seq += 1
        return self.seq - 1

    @property
    def position(self) -> str:
        return f"s{self.segment}.{max(1, self.acts)}"

    def _message(self, source: dict[str, Any]) -> Message:
        known = self.messages.get(id(source))
        if known is None:
            calls = tuple(
                ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
                for call in source.get("tool_calls") or ()
            )
            known = Message(source["role"], source.get("content") or "", calls, source.get("tool_call_id"))
            self.messages[id(source)] = known
        return known

    def _model_call(self, payload: dict[str, Any]) -> None:
        self.steps.append([])
        self.segment, self.acts, self.call = self.segment + 1, 0, payload
        self.server = {"endpoint": payload["endpoint"]}
        usage, latency_us = payload["usage"], _us(payload["latency_ms"])
        request = self._add(
            GenerateRequested(
                role="drafter",
                who="weak",
                position=self.position,
                messages=tuple(self._message(message) for message in payload["messages"]),
                tools_digest=None,
                response_schema=None,
                parameters=_text(payload["params"]),
            )
        )
        self.answered = len(self.steps[-1])
        self._add(
            GenerateCompleted(
                request=request,
                role="drafter",
                message=self._message(payload["response"]),
                reasoning=None,
                finish_reason=payload["finish_reason"],
                model=payload["model"],
                usage=Usage(usage["prompt_tokens"], usage.get("cached_tokens"), usage["completion_tokens"]),
                latency_us=latency_us,
                first_token_us=None,
                attempts=(Attempt(0, latency_us),),
                provider_id=payload["call_id"],
                server=_text(self.server),
                source="live",
            )
        )

    def _drafted(self, payload: dict[str, Any]) -> None:
        """Draft the step; its reasoning, id and probability are what the server said with its answer."""
        told = {name: payload[name] for name in ("draft_id", "logprob_mean") if name in payload}
        completed = self.steps[-1][self.answered]
        if not isinstance(completed, GenerateCompleted):
            msg = "a drafted_step follows its model_call"
            raise TypeError(msg)
        self.steps[-1][self.answered] = replace(
            completed, reasoning=payload.get("reasoning"), server=_text(self.server | told)
        )
        action = self._action()
        self._add(
            StepDrafted(
                effect=_effect(action, mutating=payload["mutating"]),
                tool=action.tool if isinstance(action, Call) else None,
                segment=self.segment,
                index=1,
                position=self.position,
                action=action,
                request=completed.request,
            )
        )

    def _action(self, call_id: str | None = None) -> Action:
        """Return what the step's model call asks for: the call of that id, else the first, else a reply."""
        response = self.call["response"]
        calls = response.get("tool_calls") or ()
        chosen = next((call for call in calls if call["id"] == call_id), calls[0] if calls else None)
        if chosen is None:
            return Reply(response.get("content") or "")
        return Call(chosen["function"]["name"], chosen["function"]["arguments"])

    def _verdict(self, payload: dict[str, Any]) -> None:
        accepts = payload["decision"] == "accept"
        seq = self._add(
            VerdictGiven(
                outcome="accept" if accepts else "reject",
                segment=self.segment,
                drafted=1,
                accepted=int(accepts),
                category=None if accepts else "other",
                reason=payload["rationale"],
                replacement=None,
                status="ok",
                cause=None,
                raw=_text({name: value for name, value in payload.items() if name not in {"step", "rationale"}}),
                review=None,
            )
        )
        self.authority = f"verdict:{seq}" if accepts else "unreviewed"

    def _observation(self, payload: dict[str, Any]) -> None:
        self.acts += 1
        action = self._action(payload["call_id"])
        effect = _effect(action, mutating=payload["mutating"])
        authority = "read" if effect == "read" else self.authority
        request = self._add(
            ActRequested(
                effect=effect,
                authority=authority,
                tool=payload["tool"],
                position=self.position,
                action=action,
                requestor="agent",
                idempotency_key=f"{self.id}:{self.position}",
            )
        )
        self._add(
            ActCompleted(
                effect=effect,
                authority=authority,
                outcome="ok",
                tool=payload["tool"],
                request=request,
                position=self.position,
                observation=Observation(payload["result"]),
                fingerprint_before=None,
                fingerprint_after=None,
                latency_us=_us(payload["latency_ms"]),
                source="live",
            )
        )


_DESK = {"task_id": "t", "agent": "weak", "verifier": "strong", "config": {}, "seed": 7, "trial": 0}


def started(payload: dict[str, Any] | None = None) -> EpisodeStarted:
    """Return event 0 of what a source's `episode_started` says."""
    payload = payload or _DESK
    task = Task(payload["task_id"], "")
    return EpisodeStarted(
        project="bench",
        labels=(),
        started_by=StartedBy("bench", "bench"),
        operator=None,
        task=task,
        task_digest=task_digest(task),
        environment=EnvironmentFacts("bench", "bench", "1"),
        instructions="",
        tools=(),
        tools_digest=tools_digest(()),
        protocol="specagent",
        protocol_revision=1,
        options=_text(payload["config"]),
        prompts="{}",
        models=(
            ModelFacts("weak", "sglang", payload["agent"]),
            ModelFacts("strong", "sglang", payload["verifier"]),
        ),
        seed=payload["seed"],
        trial=payload["trial"],
        run=None,
        versions=Versions("0", "3"),
    )


def _effect(action: Action, *, mutating: bool) -> str:
    if isinstance(action, Reply):
        return "reply"
    return "write" if mutating else "read"


def _us(milliseconds: float) -> int:
    return round(milliseconds * 1000)


def _text(value: object) -> str:
    """Return JSON text; floats are allowed here: a body holds text, not the number."""
    return json.dumps(value, separators=(",", ":"))
