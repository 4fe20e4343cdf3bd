"""`spectrace replay --models live`: the models that the episodes ask, opened once, within one budget.

A simulated user is part of the environment, which is never built here: what the recorded one said stands in the record.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial

from spectrace.audit.queries import Reader
from spectrace.cli import console
from spectrace.cli.console import Progress
from spectrace.cli.replay_choices import Given
from spectrace.cli.replay_episodes import asked_live, protocol_in
from spectrace.cli.run_choices import named_models, require_scoring, unasked
from spectrace.cli.watch import weights_progress
from spectrace.config import Models, settings_here
from spectrace.core.prompts import Prompts
from spectrace.runs.live import EpisodeProtocol
from spectrace.runs.live_models import Asking
from spectrace.runs.purse import Purse
from spectrace.runs.replay import ReplayResult


class LiveModels:
    """Replays one episode after another with the models that were named."""

    def __init__(self, reader: Reader, asking: Asking, options: Sequence[str]) -> None:
        """Made by `live_models`."""
        self._reader = reader
        self._asking = asking
        self._options = options

    async def __call__(self, episode: str) -> ReplayResult:
        """Replay an episode."""
        return await asked_live(self._reader, episode, self._asking, self._options)


@asynccontextmanager
async def live_models(
    reader: Reader, names: Sequence[str], given: Given, prompts: Prompts | None, progress: Progress
) -> AsyncIterator[LiveModels]:
    """Open the models that the episodes' protocols ask; nothing is contacted before the first is replayed."""
    settings = settings_here()
    protocols = _protocols(reader, names, given.options)
    typed: Mapping[str, str | None] = {"weak": given.weak, "strong": given.strong, "user": None}
    named = {role: name for role, name in named_models(protocols, typed, settings).items() if role != "user"}
    for said in unasked(protocols, typed) if protocols else ():
        console.say(said, style="warning")
    models = Models(settings, weights_progress(progress))
    try:
        clients = {role: models.open(name) for role, name in named.items()}
        require_scoring(protocols, clients, named, settings)
        purse = Purse(given.max_cost_usd, of_run=True)
        asking = Asking(clients=clients, prompts=prompts, lenient=given.lenient, prices=settings.prices, purse=purse)
        yield LiveModels(reader, asking, given.options)
    finally:
        await models.close()


def _protocols(reader: Reader, names: Sequence[str], options: Sequence[str]) -> list[EpisodeProtocol]:
    """Return the different protocols of the episodes; those that no generator here made need no model."""
    found = filter(None, map(partial(protocol_in, reader, options=options), names))
    return list(dict.fromkeys(found))
