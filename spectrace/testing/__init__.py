"""What tests of an agent, an environment or a protocol are written with. The public names are covered by semver.

    ScriptedModel            a model whose replies are written beforehand; call, reply, finish, accept, reject say them
    play, Playbook           a protocol as a dialogue, without models and environments
    check_environment        whether your Environment keeps what the port promises
    assert_replays           every episode of a recording, a bundle or a database replays the same
    plugin                   pytest's: the fixture `spectrace_replay`, the marker `spectrace`, `--spectrace-record`

They load on first use: pytest imports this package at its start, whether a test needs it or not.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spectrace.models.scripted import ScriptedModel
    from spectrace.testing.agent_run import AgentRun
    from spectrace.testing.conformance import Finding, Report, check_environment, inspect_environment
    from spectrace.testing.playbook import Playbook, play
    from spectrace.testing.recordings import Runs
    from spectrace.testing.replaying import assert_replays
    from spectrace.testing.replies import accept, call, finish, reject, reply

_HOMES = {
    "AgentRun": "spectrace.testing.agent_run",
    "Finding": "spectrace.testing.conformance",
    "Playbook": "spectrace.testing.playbook",
    "Report": "spectrace.testing.conformance",
    "Runs": "spectrace.testing.recordings",
    "ScriptedModel": "spectrace.models.scripted",
    "accept": "spectrace.testing.replies",
    "assert_replays": "spectrace.testing.replaying",
    "call": "spectrace.testing.replies",
    "check_environment": "spectrace.testing.conformance",
    "finish": "spectrace.testing.replies",
    "inspect_environment": "spectrace.testing.conformance",
    "play": "spectrace.testing.playbook",
    "reject": "spectrace.testing.replies",
    "reply": "spectrace.testing.replies",
}

__all__ = [
    "AgentRun",
    "Finding",
    "Playbook",
    "Report",
    "Runs",
    "ScriptedModel",
    "accept",
    "assert_replays",
    "call",
    "check_environment",
    "finish",
    "inspect_environment",
    "play",
    "reject",
    "reply",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    if name not in _HOMES:
        msg = f"module 'spectrace.testing' has no attribute {name!r}; its names are {', '.join(__all__)}"
        raise AttributeError(msg)
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return list(__all__)
