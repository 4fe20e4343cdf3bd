"""Who judges in a re-verification: a model with one or several servers, a function, or people's labels.

A Pool is what the command line's `--verifier` becomes. A chat model is asked in the prompts that the first reviewer
saw; a Judge is asked with the same review as plain data, and its answer enters the log as a completion like any other.
Counterpart of `sources.ModelSource`, which a pass over one episode asks.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from spectrace.core.commands import Generate
from spectrace.core.review_request import ReviewRequest
from spectrace.core.types import Completion, ModelFacts, ModelRequest
from spectrace.errors import UsageError
from spectrace.models.client import ModelClient, can_score
from spectrace.models.judge import Judge
from spectrace.runs.purse import Purse
from spectrace.runs.sources import Generated, ModelSource


@runtime_checkable
class Pool(Protocol):
    """The verifier of a run, shared by its episodes."""

    async def facts(self) -> ModelFacts:
        """Contact whoever answers and say who that is; refuse replicas that differ."""
        ...

    def client(self, episode: str) -> ModelClient:
        """Return who answers for an episode: always the same replica. It belongs to the pool: do not close it."""
        ...

    async def close(self) -> None:
        """Release everything."""
        ...


class Single:
    """One model that answers for every episode."""

    def __init__(self, model: ModelClient) -> None:
        """Ask this one; closing the pool closes it."""
        self._model = model

    @property
    def can_score(self) -> bool:
        """Whether the model answers a request that has `scoring`."""
        return can_score(self._model)

    async def facts(self) -> ModelFacts:
        """Contact the model."""
        return await self._model.facts()

    def client(self, episode: str) -> ModelClient:
        """Return the model."""
        del episode
        return self._model

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()


class JudgePool:
    """A function or labels, in a model's place."""

    def __init__(self, judge: Judge) -> None:
        """Ask this judge; closing the pool closes it."""
        self.judge = judge

    async def facts(self) -> ModelFacts:
        """Say who judges."""
        return await self.judge.facts()

    def client(self, episode: str) -> ModelClient:
        """Return who says the facts; the questions themselves go to the judge, by `verifier_source`."""
        del episode
        return _Described(self.judge)

    async def close(self) -> None:
        """Close the judge."""
        await self.judge.close()


@dataclass(frozen=True, slots=True)
class _Described:
    """A judge where a model is described."""

    judge: Judge

    async def facts(self) -> ModelFacts:
        return await self.judge.facts()

    async def generate(self, request: ModelRequest) -> Completion:
        facts = await self.facts()
        said = f"{facts.provider}:{facts.name} judges recorded reviews and answers no prompt."
        raise UsageError(f"{said} This call has {len(request.messages)} messages.")

    async def close(self) -> None:
        """The pool closes the judge."""


class VerifierSource(ModelSource):
    """A judge, asked by the position of the question."""

    def __init__(self, judge: Judge, requests: Iterable[ReviewRequest]) -> None:
        """Answer the reviews of these positions, and no other question."""
        super().__init__({})
        self._judge = judge
        self._requests = {request.position: request for request in requests}

    async def generate(self, lane: str, request: int, command: Generate) -> Generated:
        """Put the review to the judge, with the prompt that a model is asked."""
        asked = self._requests.get(command.position)
        if asked is None:
            there = ", ".join(self._requests) or "none"
            raise UsageError(
                f"event {request}, lane {lane!r}: expected a question about one of the reviews {there}, "
                f"found {command.position!r}."
            )
        return Generated(await self._judge.judge(replace(asked, prompt=command.request.messages)), "live")


def pool_of(verifier: ModelClient | Pool) -> Pool:
    """Return the verifier as a pool; a client that is none answers for every episode."""
    return verifier if isinstance(verifier, Pool) else Single(verifier)


def verifier_source(  # noqa: PLR0913 - who answers, and what pays
    pool: Pool,
    episode: str,
    requests: Sequence[ReviewRequest],
    client: ModelClient | None = None,
    models: Sequence[ModelFacts] = (),
    purses: Sequence[Purse] = (),
) -> ModelSource:
    """Return who answers a pass over one episode; its calls are paid from the `purses`, by the prices of `models`.

    `client` is the one that the pass was described by: asked again, the pool might give another, because a replica went
    down in between.
    """
    if isinstance(pool, JudgePool):
        return VerifierSource(pool.judge, requests)
    return ModelSource({"strong": client or pool.client(episode)}, models, purses)


def covers(pool: Pool, request: ReviewRequest) -> bool:
    """Whether the verifier has an answer to a review: a model always may, labels only where somebody gave one."""
    return not isinstance(pool, JudgePool) or pool.judge.covers(request)


def require_scoring(pool: Pool, verifier: str) -> None:
    """Raise UsageError for a verifier that gives no probabilities: before anything is asked of it, or recorded."""
    if can_score(pool):
        return
    what = "decides by itself" if isinstance(pool, JudgePool) else "only writes"
    raise UsageError(
        f"a scored verdict is read from probabilities, and the verifier {verifier} gives none: it {what}. "
        "Name a model behind SGLang, sglang:NAME@URL, or leave it at decoded verdicts, which every verifier can give."
    )
