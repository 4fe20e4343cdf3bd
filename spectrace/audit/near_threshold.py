"""How many scored steps lie so near the threshold that another cache split might have judged them otherwise.

Answers in bf16 move by up to 0.15 nat with how a prompt is cut between cache and prefill (PROTOCOL section 6), so a
step whose log-odds are that near the threshold's stands or falls by chance. Pure. `columns` counts, `comparison` tells.
"""

import json
from dataclasses import dataclass
from math import inf, log

from spectrace.core.fold import Episode

MARGIN = 0.15
"""Nat."""


@dataclass(frozen=True, slots=True)
class ScoredSteps:
    """Steps that a scored verdict judged: those before the first wrong one, and that one."""

    near: int = 0
    """Of these: within MARGIN of the threshold."""
    judged: int = 0


def scored_steps(episode: Episode) -> ScoredSteps:
    """Count an episode's scored steps; probabilities that are none, as a log from elsewhere may have, count nowhere."""
    threshold = _log_odds(json.loads(episode.started.options).get("threshold"))
    if threshold is None:
        return ScoredSteps()
    near = judged = 0
    for segment in episode.segments:
        if segment.verdict is None or segment.verdict.probabilities is None:
            continue
        found = [_log_odds(one) for one in _listed(segment.verdict.probabilities)[: segment.verdict.accepted + 1]]
        judged += sum(one is not None for one in found)
        near += sum(one is not None and abs(one - threshold) <= MARGIN for one in found)
    return ScoredSteps(near, judged)


def _listed(text: str) -> list[object]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return found if isinstance(found, list) else []


def _log_odds(probability: object) -> float | None:
    """Return the log-odds of a decimal text; None where it is no probability."""
    try:
        share = float(probability) if isinstance(probability, str) else -1.0
    except ValueError:
        return None
    if not 0 <= share <= 1:
        return None
    return log(share / (1 - share)) if 0 < share < 1 else inf * (share - 0.5)
