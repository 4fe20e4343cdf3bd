"""Whether the models of a run still answer: a provider that fails many times in a row will fail the next time too.

Each model has its own count, over all episodes and calls; any answer of that model sets it back. What counts
is trouble of the provider (`ModelFailed.PROVIDER_TROUBLE`): a prompt that does not fit says nothing of the server.
"""

from collections import Counter
from collections.abc import Mapping

from spectrace.core.types import Completion, ModelFacts, ModelRequest
from spectrace.errors import ModelFailed
from spectrace.models.client import ModelClient

MOST_IN_A_ROW = 20


class Health:
    """Counts each model's failures in a row."""

    def __init__(self, most: int = MOST_IN_A_ROW) -> None:
        """Nothing has failed yet."""
        self._most = most
        self._row: Counter[str] = Counter()
        self.gave_up: str | None = None
        """Which model failed too often and with what words; None while all is well."""

    def watched(self, clients: Mapping[str, ModelClient]) -> dict[str, ModelClient]:
        """Return the clients, counted."""
        return {role: _Watched(client, self, role) for role, client in clients.items()}

    def answered(self, role: str) -> None:
        """Set a model's count back."""
        self._row[role] = 0

    def failed(self, role: str, error: ModelFailed) -> None:
        """Count one more failure of a model."""
        if error.kind not in ModelFailed.PROVIDER_TROUBLE:
            return
        self._row[role] += 1
        if self._row[role] >= self._most and self.gave_up is None:
            self.gave_up = f"the {role} model failed {self._most} times in a row: {error}"


class _Watched:
    """A client that tells its health."""

    def __init__(self, client: ModelClient, health: Health, role: str) -> None:
        self._client, self._health, self._role = client, health, role

    async def facts(self) -> ModelFacts:
        try:
            return await self._client.facts()
        except ModelFailed as error:
            self._health.failed(self._role, error)
            raise

    async def generate(self, request: ModelRequest) -> Completion:
        try:
            completion = await self._client.generate(request)
        except ModelFailed as error:
            self._health.failed(self._role, error)
            raise
        self._health.answered(self._role)
        return completion

    async def close(self) -> None:
        await self._client.close()
