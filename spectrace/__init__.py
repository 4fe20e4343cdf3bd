"""Record, replay, re-verify and audit agents whose steps a weak model drafts and a strong model reviews.

The public names load on first use, so that reading a log imports no model SDK. PYTEST_DONT_REWRITE: see testing.plugin.
"""

import importlib
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from spectrace import testing
    from spectrace.core.agentcollab import AgentCollab
    from spectrace.core.baselines import StrongOnly, WeakOnly
    from spectrace.core.prompts import Prompts
    from spectrace.core.review_request import ReviewRequest
    from spectrace.core.specagent import SpecAgent
    from spectrace.core.speculative_actions import SpeculativeActions
    from spectrace.core.types import Verdict
    from spectrace.environments.functions import FunctionEnvironment as Environment
    from spectrace.environments.functions import Task, tool
    from spectrace.library import fork, replay, resume, reverify, run
    from spectrace.models.scripted import ScriptedModel
    from spectrace.store.sql import open_store

_HOMES = {
    "AgentCollab": ("spectrace.core.agentcollab", "AgentCollab"),
    "Environment": ("spectrace.environments.functions", "FunctionEnvironment"),
    "Prompts": ("spectrace.core.prompts", "Prompts"),
    "ReviewRequest": ("spectrace.core.review_request", "ReviewRequest"),
    "ScriptedModel": ("spectrace.models.scripted", "ScriptedModel"),
    "SpecAgent": ("spectrace.core.specagent", "SpecAgent"),
    "SpeculativeActions": ("spectrace.core.speculative_actions", "SpeculativeActions"),
    "StrongOnly": ("spectrace.core.baselines", "StrongOnly"),
    "Task": ("spectrace.environments.functions", "Task"),
    "Verdict": ("spectrace.core.types", "Verdict"),
    "WeakOnly": ("spectrace.core.baselines", "WeakOnly"),
    "fork": ("spectrace.library", "fork"),
    "open_store": ("spectrace.store.sql", "open_store"),
    "replay": ("spectrace.library", "replay"),
    "resume": ("spectrace.library", "resume"),
    "reverify": ("spectrace.library", "reverify"),
    "run": ("spectrace.library", "run"),
    "testing": ("spectrace.testing", ""),
    "tool": ("spectrace.environments.functions", "tool"),
}

__all__ = [
    "AgentCollab",
    "Environment",
    "Prompts",
    "ReviewRequest",
    "ScriptedModel",
    "SpecAgent",
    "SpeculativeActions",
    "StrongOnly",
    "Task",
    "Verdict",
    "WeakOnly",
    "fork",
    "open_store",
    "replay",
    "resume",
    "reverify",
    "run",
    "testing",
    "tool",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    if name not in _HOMES:
        msg = f"module 'spectrace' has no attribute {name!r}; its names are {', '.join(__all__)}"
        raise AttributeError(msg)
    home, attribute = _HOMES[name]
    module = importlib.import_module(home)
    return getattr(module, attribute) if attribute else module


def __dir__() -> list[str]:
    """Return the public names."""
    return [*__all__, "__version__"]
