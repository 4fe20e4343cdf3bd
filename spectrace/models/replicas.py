"""Replicas: one model behind several servers. An episode stays on one of them; each answer says which.

Which one follows from the episode's name (rendezvous hashing), so that its repeats and a later process find the same
server and its warm prefix cache; one that has a quarter more than its share is passed over. All must say the same of
themselves, or nothing is asked: a table of verdicts is of one verifier. One fact is left out of that: every SGLang
server draws a `random_seed` of its own unless it is told one; it stays recorded with each episode.

A replica is down once a call finds nobody there, or after three troubles of the server in a row. Its episodes fail, as
infrastructure, and are left for going on; new ones go to the others. Asking for the facts again looks who is back.
"""

import asyncio
import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

from spectrace.core.types import Completion, ModelFacts, ModelRequest
from spectrace.errors import ModelFailed, UsageError
from spectrace.models.client import ModelClient, Tokenizing, can_score

Notice = Callable[[str], None]
"""Told, in a sentence, what a user should know and no answer says."""

_OWN = frozenset({"random_seed"})
_TROUBLE = frozenset({"server", "timeout"})
_IN_A_ROW = 3
_SLACK = 1.25


class Replicas:
    """The servers of one model: a pool that gives each episode its client, and a client itself for whoever has none."""

    def __init__(self, label: str, clients: Mapping[str, ModelClient], notice: Notice | None = None) -> None:
        """Contact nobody yet. `clients` are by URL; `label` is what the user calls the model."""
        self._label = label
        self._clients = dict(clients)
        self._notice = notice or (lambda _: None)
        self._facts: dict[str, ModelFacts] = {}
        """URL -> what it said; only what is up has said anything."""
        self._down: set[str] = set()
        self._troubles: Counter[str] = Counter()
        self._stays: dict[str, str] = {}
        """Episode -> URL."""
        self._homes: Counter[str] = Counter()
        """URL -> how many episodes were given to it."""
        self._asking = asyncio.Lock()

    @property
    def can_score(self) -> bool:
        """Whether a request may have `scoring`."""
        return all(can_score(client) for client in self._clients.values())

    async def facts(self) -> ModelFacts:
        """Contact every replica that is not known to be up; raise UsageError naming what differs between two."""
        async with self._asking:
            asked = [url for url in self._clients if url not in self._facts]
            found = await asyncio.gather(*(self._clients[url].facts() for url in asked), return_exceptions=True)
            said = dict(zip(asked, found, strict=True))
            self._told(said)
            _refuse_different(self._label, self._facts)
        return replace(next(iter(self._facts.values())), url=", ".join(self._clients))

    def _told(self, said: Mapping[str, ModelFacts | BaseException]) -> None:
        """Keep what was said; who could not be reached is down, unless that is everybody."""
        for url, one in said.items():
            if isinstance(one, ModelFacts):
                self._facts[url] = one
                if url in self._down:
                    self._down.remove(url)
                    self._homes.clear()  # else all that is new would go to the one that had nothing meanwhile
                self._troubles[url] = 0
            elif not isinstance(one, ModelFailed) or one.kind not in {"unreachable", *_TROUBLE}:
                raise one
        silent = {url: error for url, error in said.items() if isinstance(error, ModelFailed)}
        if silent and not self._facts:
            raise next(iter(silent.values()))
        for url, error in silent.items():
            if url not in self._down:
                self._down.add(url)
                self._notice(f"{self._label}: a replica is left out, up: {len(self._facts)}. {error}")

    def client(self, episode: str) -> "Replica":
        """Return the client of an episode; one whose replica went down is given another."""
        url = self._stays.get(episode)
        if url is None or url in self._down:
            url = self._stays[episode] = self._home(episode)
            self._homes[url] += 1
        return Replica(self, url, self._clients[url])

    def _home(self, episode: str) -> str:
        up = [one for one in self._clients if one not in self._down] or list(self._clients)
        most = math.ceil(_SLACK * (sum(self._homes[one] for one in up) + 1) / len(up))
        return max((one for one in up if self._homes[one] < most), key=lambda one: _weight(episode, one))

    async def described(self, url: str) -> ModelFacts:
        """Return what one replica said of itself, once all were compared."""
        if url not in self._facts:
            await self.facts()
        if url in self._facts:
            return self._facts[url]
        raise ModelFailed("unreachable", f"{self._label}: the replica at {url} is down.")

    def failed(self, url: str, failure: ModelFailed) -> None:
        """Count a failed call; say so when a replica is down."""
        self._troubles[url] += failure.kind in _TROUBLE
        if url in self._down or (failure.kind != "unreachable" and self._troubles[url] < _IN_A_ROW):
            return
        self._down.add(url)
        self._facts.pop(url, None)
        up = [one for one in self._clients if one not in self._down]
        others = f"new ones go to {', '.join(up)}" if up else "no other replica is up"
        self._notice(
            f"{self._label}: the replica at {url} does not answer any more. Its episodes fail and are left for going "
            f"on; {others}. {failure}"
        )

    def answered(self, url: str) -> None:
        """A replica that answers has no trouble."""
        self._troubles[url] = 0

    async def generate(self, request: ModelRequest) -> Completion:
        """Answer for nobody's episode: always the same replica."""
        return await self.client("").generate(request)

    async def prompt_ids(self, request: ModelRequest) -> tuple[int, ...]:
        """Return the prompt's tokens, where the servers tell them."""
        return await self.client("").prompt_ids(request)

    async def close(self) -> None:
        """Close every client."""
        for client in self._clients.values():
            await client.close()


class Replica:
    """One server, as the client of an episode: what it answers is recorded with its URL."""

    def __init__(self, pool: Replicas, url: str, client: ModelClient) -> None:
        """Answer by this client of the pool."""
        self._pool, self._client = pool, client
        self.url = url

    @property
    def can_score(self) -> bool:
        """Whether a request may have `scoring`."""
        return can_score(self._client)

    async def facts(self) -> ModelFacts:
        """Say what this replica is, once all were compared."""
        return await self._pool.described(self.url)

    async def generate(self, request: ModelRequest) -> Completion:
        """Answer, and say which server did."""
        try:
            done = await self._client.generate(request)
        except ModelFailed as failure:
            self._pool.failed(self.url, failure)
            raise
        self._pool.answered(self.url)
        said = {**json.loads(done.server or "{}"), "url": self.url}
        return replace(done, server=json.dumps(said, sort_keys=True, ensure_ascii=False, separators=(",", ":")))

    async def prompt_ids(self, request: ModelRequest) -> tuple[int, ...]:
        """Return the prompt's tokens; raise ModelFailed where the server does not tell them."""
        if not isinstance(self._client, Tokenizing):
            raise ModelFailed("refused", f"{self.url} has no page that tokenizes a prompt.")
        return await self._client.prompt_ids(request)

    async def close(self) -> None:
        """The pool closes its clients."""


def _weight(episode: str, url: str) -> bytes:
    return hashlib.sha256(f"{episode}\n{url}".encode("utf-8", "surrogatepass")).digest()


def differences(one: ModelFacts, other: ModelFacts) -> str:
    """Return in words what two that go by one name say differently of themselves; empty where they are one model."""
    mine, its = _said(one), _said(other)
    differing = [name for name in sorted({*mine, *its}) if mine.get(name) != its.get(name)]
    return "; ".join(f"{name} ({_shown(mine, name)} and {_shown(its, name)})" for name in differing)


def _refuse_different(label: str, facts: Mapping[str, ModelFacts]) -> None:
    (first, one), *others = facts.items()
    for url, other in others:
        differing = differences(one, other)
        if differing:
            raise UsageError(
                f"{label}: the replicas {first} and {url} differ in {differing}. Verdicts of both would not be one "
                "verifier's: start them alike, or name them as two models."
            )


def _said(facts: ModelFacts) -> dict[str, object]:
    """Return all that must be equal, the server's own words by name."""
    asked = {name: getattr(facts, name) for name in ("provider", "name", "parameters", "calls", "constrained")}
    server = {name: value for name, value in json.loads(facts.server).items() if name not in _OWN}
    return asked | {f"server.{name}": value for name, value in server.items()}


def _shown(said: Mapping[str, object], name: str) -> str:
    return json.dumps(said[name], ensure_ascii=False) if name in said else "not said"
