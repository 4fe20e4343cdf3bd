"""What a real strong model makes of the planted segments: recall and false rejects, and two manners of asking compared.

Each segment is reviewed once and by itself; a verdict that cannot be read is `unusable`, never an accept or a reject.
"""

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spectrace.core.reading import Unusable
from spectrace.core.reviewing import review_messages
from spectrace.core.types import ModelFacts, ModelRequest, Scoring
from spectrace.core.verdict_reading import read_verdict
from spectrace.models.client import ModelClient
from tests.live.planted import RIGHT, Planted, desk, laid_out

MARGIN = 0.15
"""Nats by which answers in bfloat16 move with the cache's split (PROTOCOL section 6)."""
_PARAMETERS = json.dumps({"temperature": 0, "max_tokens": 220})


@dataclass(frozen=True, slots=True)
class Judged:
    """A planted segment and how much of it a verdict lets stand; None where the verdict is unusable."""

    planted: Planted
    accepted: int | None
    log_odds: tuple[float, ...] = ()
    """Of yes over no, for each step, where it was scored."""

    @property
    def rejects(self) -> bool:
        """Whether some step was rejected."""
        return self.accepted is not None and self.accepted < len(self.planted.steps)


async def decoded(client: ModelClient, model: ModelFacts, layout: str, segments: Sequence[Planted]) -> list[Judged]:
    """Review with decoded verdicts."""
    found = []
    for planted in segments:
        history, steps = await laid_out(planted)
        reviewer = desk(model, planted.task, prompts=layout)
        schema = json.dumps(reviewer.setup.verdict_schema(len(steps)))
        request = ModelRequest(review_messages(reviewer, history, steps), (), schema, _PARAMETERS)
        verdict = read_verdict(reviewer.setup, await client.generate(request), len(steps))
        found.append(_told(Judged(planted, None if isinstance(verdict, Unusable) else verdict.accepted), layout))
    return found


async def scored(client: ModelClient, model: ModelFacts, segments: Sequence[Planted]) -> list[Judged]:
    """Review with scored verdicts, at the threshold 0.5: log-odds of 0."""
    found = []
    for planted in segments:
        history, steps = await laid_out(planted)
        messages = review_messages(desk(model, planted.task, verdict="scored"), history, steps)
        request = ModelRequest(messages, (), None, _PARAMETERS, Scoring(len(steps)))
        scores = json.loads((await client.generate(request)).message.content)
        odds = tuple(float(yes) - float(no) for yes, no in zip(scores["yes"], scores["no"], strict=True))
        below = [number for number, one in enumerate(odds) if one < 0]
        found.append(_told(Judged(planted, below[0] if below else len(steps), odds), "scored"))
    return found


def _told(judged: Judged, manner: str) -> Judged:
    """Say on stderr how far it is: a review takes half a minute."""
    one = judged.planted
    line = f"{manner}: {one.task}, {one.kind}: {judged.accepted} of {len(one.steps)}"
    print(line, file=sys.stderr, flush=True)  # noqa: T201 - progress
    return judged


def recall(judged: Iterable[Judged]) -> dict[str, tuple[int, int]]:
    """Return counts of what was found out, each as (how many, of how many)."""
    every = list(judged)
    wrong = [one for one in every if one.planted.wrong is not None]
    right = [one for one in every if one.planted.kind == RIGHT]
    kinds = dict.fromkeys(one.planted.kind for one in wrong)
    return {
        "rejected, of the segments with an error": (sum(one.rejects for one in wrong), len(wrong)),
        "rejected at the very step": (sum(one.accepted == (one.planted.wrong or 0) - 1 for one in wrong), len(wrong)),
        **{f"rejected, {kind}": _of(one for one in wrong if one.planted.kind == kind) for kind in kinds},
        "rejected, of those that are right": (sum(one.rejects for one in right), len(right)),
        "unusable": (sum(one.accepted is None for one in every), len(every)),
    }


def _of(judged: Iterable[Judged]) -> tuple[int, int]:
    every = list(judged)
    return sum(one.rejects for one in every), len(every)


def agreement(one: Sequence[Judged], other: Sequence[Judged]) -> dict[str, tuple[int, int]]:
    """Return how often decoded and scored verdicts say the same, where both can be read."""
    both = [(a, b) for a, b in zip(one, other, strict=True) if None not in {a.accepted, b.accepted}]
    odds = [value for _, b in both for value in b.log_odds]
    return {
        "same: everything accepted, or not": (sum(a.rejects == b.rejects for a, b in both), len(both)),
        "same length accepted": (sum(a.accepted == b.accepted for a, b in both), len(both)),
        f"steps within {MARGIN} nat of the threshold": (sum(abs(value) < MARGIN for value in odds), len(odds)),
    }
