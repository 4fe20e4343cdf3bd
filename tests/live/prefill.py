"""What a real SGLang server reads anew of the strong model's prompts, `shared` and `separate`, beside the radix model.

The drafts and verdicts are scripted, so that both layouts walk the same episodes; each strong prompt is then put to the
server, in order, for its own count of cached tokens. The cache is emptied before a layout, not between its episodes.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from spectrace.core.baselines import StrongOnly
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Action, ModelRequest
from spectrace.cost.radix import RadixCache
from spectrace.environments.shop import open_shop
from spectrace.models.scripted import ScriptedModel
from spectrace.models.sglang import SGLangClient
from spectrace.runs.live import record
from spectrace.store.memory import MemoryEventStore
from tests.episodes import CANCEL, DONE, FIND, READ, call
from tests.live.planted import PLANTED, Planted
from tests.live.sglang_server import server
from tests.playbook import accept, reject

LAYOUTS = ("shared", "separate")
ALONE = "strong-only"
"""For comparison: the strong model writes every step of the same episodes."""


@dataclass(frozen=True, slots=True)
class Script:
    """One episode: what the weak model writes and what the strong one says."""

    task: str
    weak: tuple[Action, ...]
    strong: tuple[Action | str, ...]
    corrective: int
    """Corrective turns in it."""
    committed: tuple[Action, ...]
    """What the episode comes to: a strong model alone would have written it."""


@dataclass(frozen=True, slots=True)
class Prefill:
    """Strong prompts of one episode in tokens: all of them, and those that were read anew."""

    task: str
    corrective: int
    calls: int
    prompt: int
    measured: int
    """By the server's word."""
    modelled: int
    """By `RadixCache`, asked in the same order."""


def _steps(task: str, kind: str = "right") -> tuple[Action, ...]:
    return next(one.steps for one in PLANTED if (one.task, one.kind) == (task, kind))


_WRONG: Planted = next(one for one in PLANTED if (one.task, one.kind) == ("exchange-colour", "wrong id"))
_EXCHANGE = _steps("exchange-colour")[-1]
_LOOK = call("get_order", order_id="W207")

_LAMP, _FORBIDDEN = _steps("cancel-by-item"), _steps("voucher-second", "policy")
_REFUSED = _steps("voucher-second")

SCRIPTS = (
    Script(
        "cancel-own",
        (FIND, CANCEL, CANCEL, DONE),
        (reject(2), READ, accept(), accept()),
        corrective=1,
        committed=(FIND, READ, CANCEL, DONE),
    ),
    Script("cancel-by-item", (*_LAMP, DONE), (accept(), accept()), corrective=0, committed=(*_LAMP, DONE)),
    Script(
        "exchange-colour",
        (*_WRONG.steps, _LOOK, DONE),
        (reject(4), _EXCHANGE, accept()),
        corrective=1,
        committed=(*_WRONG.steps[:-1], _EXCHANGE, _LOOK, DONE),
    ),
    Script("voucher-second", _FORBIDDEN, (reject(3), _REFUSED[-1]), corrective=1, committed=_REFUSED),
)


async def strong_requests(script: Script, layout: str) -> list[ModelRequest]:
    """Return the strong model's prompts of the episode, in order."""
    shop, alone = open_shop(), layout == ALONE
    task = next(one for one in shop.tasks() if one.id == script.task)
    strong = ScriptedModel(script.committed if alone else script.strong)
    clients = {"strong": strong} if alone else {"weak": ScriptedModel(script.weak), "strong": strong}
    protocol = StrongOnly() if alone else SpecAgent(prompts=layout)
    recorded = await record(task, shop, clients, protocol, MemoryEventStore())
    assert recorded.outcome.status == "completed", recorded.outcome
    assert len(strong.requests) == len(script.committed if alone else script.strong)
    return strong.requests


async def prefills(url: str, layout: str, scripts: Sequence[Script] = SCRIPTS) -> list[Prefill]:
    """Put every strong prompt of the scripts to an emptied server."""
    cache, client = RadixCache(), SGLangClient("weak", url)
    server.flush(url)
    try:
        return [await _prefill(client, cache, script, await strong_requests(script, layout)) for script in scripts]
    finally:
        await client.close()


async def _prefill(client: SGLangClient, cache: RadixCache, script: Script, requests: list[ModelRequest]) -> Prefill:
    prompt = measured = modelled = 0
    for request in requests:
        # One token: what is decoded does not matter here, and without a schema no grammar is built.
        short = replace(request, schema=None, parameters=json.dumps({"max_tokens": 1}))
        ids = await client.prompt_ids(short)
        usage = (await client.generate(short)).usage
        assert (usage.input, usage.cached is None) == (len(ids), False)
        prompt += len(ids)
        measured += len(ids) - (usage.cached or 0)
        modelled += len(ids) - cache.prefill(ids)
    return Prefill(script.task, script.corrective, len(requests), prompt, measured, modelled)
