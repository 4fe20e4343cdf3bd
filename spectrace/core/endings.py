"""What the end of an episode says of the agent: a score, or only of what it ran on.

PROTOCOL section 7: a truncated episode scores 0; failures of the infrastructure are left out of scores, counted, and
bounded. An agent that gave up by itself (no repair, an unreadable reply twice) has failed its task: that scores 0.
"""

from spectrace.core.events import EpisodeEnded, Event

RUN = "run_"
"""Begins the reason of an episode that ended because its whole run was out of money or time."""
COST_UNKNOWN = "cost_unknown"
"""A call's cost could not be counted under a limit of money: the call is there, its price in tokens is not."""
TOKENS_UNKNOWN = "tokens_unknown"
"""The same under a limit of tokens."""
_INFRASTRUCTURE = ("model_", "environment_", "error_")


def cut_by_run(reason: str | None) -> bool:
    """Whether the episode was cut by a limit that is not its own, or by one that nobody could keep."""
    return reason is not None and (reason.startswith(RUN) or reason in {COST_UNKNOWN, TOKENS_UNKNOWN})


def infrastructure(status: str, reason: str | None) -> bool:
    """Whether the end says nothing of the agent: what it ran on failed, or somebody stopped it."""
    match status:
        case "completed":
            return False
        case "truncated":
            return cut_by_run(reason)
        case "failed":
            return reason is None or reason == "indeterminate" or reason.startswith(_INFRASTRUCTURE)
        case _:  # interrupted, running, or an end that cannot be read
            return True


def score(status: str, reason: str | None, reward: str | None) -> str | None:
    """Return the reward that counts, as its decimal text; None where the episode is left out of scores."""
    if infrastructure(status, reason):
        return None
    return reward if status == "completed" else "0.0"


def cut_short(event: Event) -> bool:
    """Whether a recorded end came from outside the protocol: interrupted, out of event numbers, an error of ours."""
    if not isinstance(event.body, EpisodeEnded):
        return False
    reason = event.body.reason
    return event.body.outcome == "interrupted" or reason == "max_events" or reason.startswith("error_")
