"""The ModelClient port: one coroutine that answers a request. Every adapter beside this file implements it."""

from typing import Protocol, runtime_checkable

from spectrace.core.types import Completion, ModelFacts, ModelRequest


class ModelClient(Protocol):
    """A model that answers. Transport retries happen inside and are listed as attempts of one completion."""

    async def facts(self) -> ModelFacts:
        """Contact the server once and say what answers there; raise ModelFailed(kind='unreachable') if nothing does.

        `role` is filled in by the caller (`dataclasses.replace`). Never holds a key, nor credentials in the URL.
        """
        ...

    async def generate(self, request: ModelRequest) -> Completion:
        """Answer one request, or raise ModelFailed with a kind of its list."""
        ...

    async def close(self) -> None:
        """Release connections, and the server where this client started one."""
        ...


@runtime_checkable
class Tokenizing(Protocol):
    """A client that can say which tokens its server makes of a prompt, chat template and all."""

    async def prompt_ids(self, request: ModelRequest) -> tuple[int, ...]:
        """Return the prompt's token ids; raise ModelFailed where the server has no page for that."""
        ...


def can_score(client: object) -> bool:
    """Whether a client answers a request that has `scoring`: those that do say so in an attribute `can_score`."""
    return bool(getattr(client, "can_score", False))


@runtime_checkable
class Replicated(Protocol):
    """A model with several servers, of which an episode keeps one."""

    def client(self, episode: str) -> ModelClient:
        """Return the client of an episode, by any name that it keeps; it belongs to the model."""
        ...


def pinned(client: ModelClient, episode: str) -> ModelClient:
    """Return the client that an episode stays with: of several servers one, else the client itself."""
    return client.client(episode) if isinstance(client, Replicated) else client
