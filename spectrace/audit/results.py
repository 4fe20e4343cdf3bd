"""Whether an episode is its cell's result. Shared by going on, `runs` and what a comparison says is lacking.

It is one once it went to an end that says something of the agent and, where a grade was asked for, has it.
"""

from spectrace.audit.answers import EpisodeSummary
from spectrace.core.endings import infrastructure
from spectrace.core.events import EvaluateFailed
from spectrace.errors import StoreError
from spectrace.store.listing import Listable

_LAST = 20
"""An episode is graded last; behind its end stand only a person's later words."""


def has_result(store: Listable, one: EpisodeSummary) -> bool:
    """Whether the episode is a result, so that going on leaves its cell as it is; one that is being written is none."""
    return not infrastructure(one.status, one.end_reason) and not _ungraded(store, one)


def _ungraded(store: Listable, one: EpisodeSummary) -> bool:
    """Whether a grade was asked for and failed; an environment that grades nothing asks for none."""
    if one.status != "completed" or one.reward is not None:
        return False
    try:
        last = list(store.read(one.episode, max(0, one.events - _LAST), prompts=False))
    except StoreError:
        return True  # nobody can tell, and `compare` reads nothing of it either
    return any(isinstance(event.body, EvaluateFailed) for event in last)
