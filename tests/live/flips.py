"""How far a real server's scored verdicts move under load, in bfloat16 and in float32.

Every segment is scored alone, on an emptied cache, and again while all the others are scored beside it, with whatever
the cache then holds of it. At temperature 0 nothing but the batch and the cache's split differs, so what moves is the
server's own noise: the floor under what a re-verification may call disagreement.
"""

import asyncio
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass

from spectrace.core.reviewing import review_messages
from spectrace.core.types import ModelFacts, ModelRequest, Scoring
from spectrace.models.client import ModelClient
from spectrace.models.sglang import SGLangClient
from tests.live.planted import Planted, desk, laid_out
from tests.live.sglang_server import server

CHUNKS = ("--chunked-prefill-size", "256")
"""As when many long prompts come at once: each is read in pieces, and where they are cut depends on the others."""
DTYPES = ("bfloat16", "float32")
LOADS = 3
"""How often all of them are scored at once."""


@dataclass(frozen=True, slots=True)
class Moved:
    """One segment's log-odds of yes over no for each step: alone, and at each time under load."""

    alone: tuple[float, ...]
    loaded: tuple[tuple[float, ...], ...]

    @property
    def nats(self) -> float:
        """By how much an answer moved at most."""
        return max(abs(a - b) for times in self.loaded for a, b in zip(self.alone, times, strict=True))

    @property
    def flips(self) -> tuple[int, int]:
        """How many steps' answers changed sides at the threshold 0.5, and of how many."""
        pairs = [(a, b) for times in self.loaded for a, b in zip(self.alone, times, strict=True)]
        return sum((a < 0) != (b < 0) for a, b in pairs), len(pairs)

    @property
    def verdicts(self) -> tuple[int, int]:
        """How many verdicts (the first step answered no) changed, and of how many."""
        return sum(_accepted(times) != _accepted(self.alone) for times in self.loaded), len(self.loaded)


async def moved(url: str, segments: Sequence[Planted], loads: int = LOADS) -> list[Moved]:
    """Score every segment alone and, so many times, under load."""
    client = SGLangClient(server.NAME, url)
    try:
        requests = [await _request(one) for one in segments]
        alone = [await _alone(client, url, request) for request in requests]
        loaded = [await asyncio.gather(*(_odds(client, one) for one in requests)) for _ in range(loads)]
    finally:
        await client.close()
    return [Moved(first, others) for first, others in zip(alone, zip(*loaded, strict=True), strict=True)]


def totals(found: Sequence[Moved]) -> dict[str, str]:
    """Return what is reported of a server."""
    steps, verdicts = ([getattr(one, name) for one in found] for name in ("flips", "verdicts"))
    return {
        "largest move, nats": f"{max(one.nats for one in found):.6f}",
        "segments that moved": f"{sum(one.nats > 0 for one in found)} of {len(found)}",
        "steps whose answer flips": _share(steps),
        "verdicts that change": _share(verdicts),
    }


def _share(counts: Sequence[tuple[int, int]]) -> str:
    some, every = (sum(column) for column in zip(*counts, strict=True))
    return f"{some} of {every}"


def _accepted(odds: Sequence[float]) -> int:
    return sum(1 for _ in itertools.takewhile(lambda one: one >= 0, odds))


async def _request(planted: Planted) -> ModelRequest:
    history, steps = await laid_out(planted)
    reviewer = desk(ModelFacts(role="strong", provider="sglang", name=server.NAME), planted.task, verdict="scored")
    return ModelRequest(review_messages(reviewer, history, steps), scoring=Scoring(len(steps)))


async def _alone(client: ModelClient, url: str, request: ModelRequest) -> tuple[float, ...]:
    await asyncio.to_thread(server.flush, url)
    return await _odds(client, request)


async def _odds(client: ModelClient, request: ModelRequest) -> tuple[float, ...]:
    scores = json.loads((await client.generate(request)).message.content)
    return tuple(float(yes) - float(no) for yes, no in zip(scores["yes"], scores["no"], strict=True))
