"""What an imported episode starts from: `episode.started` and the scene, from what a result file says of an entry.

Counterpart of `runs.live.started`: nothing here is ours but the versions. What the file does not say is a loss.
"""

import platform
import time
from collections.abc import Sequence

from spectrace import __version__
from spectrace.core.digest import task_digest, tools_digest
from spectrace.core.events import EpisodeStarted, Origin, StartedBy, Versions
from spectrace.core.prompts import PROTOCOL_REVISION
from spectrace.core.types import EnvironmentFacts, ModelFacts, Outcome, Task, ToolSpec
from spectrace.interchange import json_text, losses
from spectrace.interchange.imported import Filing
from spectrace.interchange.tau2_events import ends
from spectrace.interchange.tau2_file import ResultFile, Simulation
from spectrace.interchange.tau2_messages import Said, microseconds
from spectrace.interchange.tau2_tools import defined_tools, effects
from spectrace.interchange.tau2_transcript import Scene, Transcript

_TO_THE_END = frozenset({"user_stop", "agent_stop"})
_TRUNCATED = frozenset({"max_steps", "too_many_errors", "timeout"})
"""Limits of the harness. Any other reason is a failure of the agent's, the user's or the machine's."""
_HELD = frozenset({"id", "messages", "reward_info", "seed", "task_id", "trial"})
"""Members of a simulation that events hold."""


def always_lost(file: ResultFile, simulation: Simulation) -> set[str]:
    """Return what such files never say, and what this one does not."""
    parts = simulation.parts
    missing = {
        losses.NO_TOOLS: not _tools(file),
        losses.NO_POLICY: json_text.string(file.environment.get("policy")) is None,
        losses.NO_TASK_ID: not simulation.names_task,
        losses.NO_TASK: simulation.task not in file.tasks,
        losses.NO_TERMINATION: json_text.string(parts.get("termination_reason")) is None,
        losses.NO_REWARD: _reward(simulation) is None,
        losses.NO_SEED: json_text.integer(parts.get("seed")) is None,
        losses.NO_TRIAL: json_text.integer(parts.get("trial")) is None,
    }
    always = {
        losses.NO_SYSTEM_PROMPT,
        losses.NO_USER_PROMPT,
        losses.NO_LATENCY,
        losses.NO_FINGERPRINTS,
        losses.NO_AUTHORITY,
    }
    return always | {loss for loss, applies in missing.items() if applies}


def scene_of(file: ResultFile, simulation: Simulation, episode: str, messages: Sequence[Said], lost: set[str]) -> Scene:
    """Return what the entry's events are made from, besides its messages."""
    outcome = _outcome(simulation, messages)
    graded = outcome.status == "completed" and outcome.reward is not None
    return Scene(
        episode=episode,
        began=_began(file, simulation, messages, lost),
        seed=json_text.integer(simulation.parts.get("seed")),
        tools=_tools(file),
        effects=effects(file.domain, _tools(file)),
        agent_parameters=_parameters(file.info.get("agent_info")),
        user_parameters=_parameters(file.info.get("user_info")),
        outcome=outcome,
        grade=simulation.parts["reward_info"] if graded else None,
    )


def _tools(file: ResultFile) -> tuple[ToolSpec, ...]:
    return defined_tools(file.domain, file.environment.get("tool_defs"))


def _began(file: ResultFile, simulation: Simulation, messages: Sequence[Said], lost: set[str]) -> int:
    """Return when the episode began, by the best word that there is."""
    times = [said.at for said in messages]
    stamped = [at for at in times if at is not None]
    if len(stamped) < len(times):
        lost.add(losses.SOME_TIMES if stamped else losses.NO_MESSAGE_TIMES)
    parts = simulation.parts
    start, end, written = (
        microseconds(json_text.string(text), lost)
        for text in (parts.get("start_time"), parts.get("timestamp"), file.parts.get("timestamp"))
    )
    known = [at for at in (start, *stamped[:1], end, written) if at is not None]
    if known:
        return known[0]
    lost.add(losses.NO_TIMES)
    return time.time_ns() // 1000


def _outcome(simulation: Simulation, messages: Sequence[Said]) -> Outcome:
    reason = json_text.string(simulation.parts.get("termination_reason"))
    if reason is None:
        stopped = bool(messages) and messages[-1].role == "user" and ends(messages[-1].content)
        reason = "user_stop" if stopped else "unknown"
    status = "completed" if reason in _TO_THE_END else "truncated" if reason in _TRUNCATED else "failed"
    return Outcome(status, reason, reward=_reward(simulation))


def _reward(simulation: Simulation) -> str | None:
    """Return the reward's exact digits; NaN and infinities, which are no JSON, are no reward."""
    info = simulation.parts.get("reward_info")
    reward = json_text.members(info or "{}").get("reward") if json_text.is_object(info) else None
    return reward if reward is not None and reward.removeprefix("-")[:1].isdecimal() else None


def _parameters(info: str | None) -> str:
    text = json_text.members(info or "{}").get("llm_args") if json_text.is_object(info) else None
    return text if text is not None and json_text.is_object(text) else "{}"


def started(file: ResultFile, simulation: Simulation, script: Transcript, filing: Filing) -> EpisodeStarted:
    """Return event 0. Nobody of ours started it: started_by is unknown, options and prompts are empty."""
    task, tools = _task(file, simulation), script.scene.tools
    return EpisodeStarted(
        project=filing.project,
        labels=(),
        started_by=StartedBy("unknown", "unknown"),
        operator=None,
        task=task,
        task_digest=task_digest(task),
        environment=EnvironmentFacts(
            name=f"tau2:{file.domain}",
            package="tau2-bench",
            version=json_text.string(file.info.get("git_commit")) or "unknown",
            restore="reset",
            replies=True,
            finish=False,
        ),
        instructions=json_text.string(file.environment.get("policy")) or "",
        tools=tools,
        tools_digest=tools_digest(tools),
        protocol="imported",
        protocol_revision=PROTOCOL_REVISION,
        options="{}",
        prompts="{}",
        models=(_model(file, "strong", "agent_info"), _model(file, "user", "user_info")),
        seed=script.scene.seed,
        trial=json_text.integer(simulation.parts.get("trial")) or 0,
        run=filing.run,
        versions=Versions(__version__, platform.python_version()),
        origin=Origin(
            format="tau2",
            file=file.name,
            digest=file.digest,
            entry=simulation.entry,
            losses=tuple(sorted(script.lost)),
            unfit=filing.unfit,
            extra=_extra(file, simulation, script),
        ),
    )


def _task(file: ResultFile, simulation: Simulation) -> Task:
    """Return the task as the file has it; the request is what the user wants, which only the user is told."""
    text = file.tasks.get(simulation.task or "")
    if text is None:
        return Task(simulation.task or "unknown", "")
    scenario = json_text.members(text).get("user_scenario")
    told = json_text.members(scenario or "{}").get("instructions") if json_text.is_object(scenario) else None
    wish = json_text.members(told or "{}").get("reason_for_call") if json_text.is_object(told) else told
    return Task(simulation.task or "unknown", json_text.string(wish) or "", text)


def _model(file: ResultFile, role: str, name: str) -> ModelFacts:
    info = file.info.get(name)
    model = json_text.string(json_text.members(info or "{}").get("llm")) if json_text.is_object(info) else None
    provider = model.split("/", 1)[0] if model and "/" in model else "unknown"
    return ModelFacts(
        role, provider, model or "unknown", parameters=_parameters(info), calls="native", constrained=False
    )


def _extra(file: ResultFile, simulation: Simulation, script: Transcript) -> str:
    """Return all that no event field holds, as JSON text: of the file, of the simulation, of each message."""
    rest = {said.place: said.rest(whole=said.place in script.unfiled) for said in script.messages}
    messages = {str(place): json_text.joined(parts) for place, parts in rest.items() if parts}
    environment = {name: text for name, text in file.environment.items() if name not in {"policy", "tool_defs"}}
    info = file.info | {"environment_info": json_text.joined(environment)}
    filed = {name: text for name, text in file.parts.items() if name not in {"tasks", "simulations", "info"}}
    own = {name: text for name, text in simulation.parts.items() if name not in _HELD}
    if script.scene.grade is None and "reward_info" in simulation.parts:
        own["reward_info"] = simulation.parts["reward_info"]
    parts = {"file": filed | {"info": json_text.joined(info)}, "simulation": own, "messages": messages}
    return json_text.joined({name: json_text.joined(part) for name, part in parts.items()})
