"""Scored verdicts: what they say of their steps, and how many lie so near the threshold that chance decided.

Answers in bf16 move by up to 0.15 nat with how a prompt is cut between cache and prefill (PROTOCOL section 6), so a
step whose log-odds are that near the threshold's stands or falls by how the cache was split. Pure. `columns` counts and
`comparison` tells those of protocols, `agreement_figures` tells those of re-verifications.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, log

from spectrace.core.fold import Episode
from spectrace.core.options import recorded_options
from spectrace.core.types import Verdict

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
    verdicts = [one.verdict for one in episode.segments if one.verdict is not None]
    found = steps_near(verdicts, (recorded_options(episode.started.options) or {}).get("threshold"))
    return ScoredSteps(sum(found), len(found))


def steps_near(verdicts: Iterable[Verdict], threshold: object) -> list[bool]:
    """Return of each scored step whether it is near the threshold, a decimal text."""
    level = _log_odds(threshold)
    if level is None:
        return []
    odds = [_log_odds(one) for verdict in verdicts for one in probabilities(verdict)[: verdict.accepted + 1]]
    return [abs(one - level) <= MARGIN for one in odds if one is not None]


def probabilities(verdict: Verdict) -> list[object]:
    """Return what a scored verdict says of its steps, a decimal text each; a foreign log may hold anything instead."""
    try:
        found = json.loads(verdict.probabilities or "[]")
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
