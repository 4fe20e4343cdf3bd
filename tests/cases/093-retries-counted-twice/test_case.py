"""Case 093: what a step took is counted once: transport retries are attempts of one call, asking again is a call.

The roll-up row of the case is a sum, and no event: nothing is added on top. A replay asks nobody.
"""

import asyncio
import json
from pathlib import Path

from model_server import Answer, ModelServer, completion, model_server

from spectrace.core.events import GenerateCompleted
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Task
from spectrace.environments.functions import FunctionEnvironment
from spectrace.models.openai import OpenAIClient
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.live import record
from spectrace.runs.replay import replay_episode
from spectrace.store.memory import MemoryEventStore
from tests.playbook import accept

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())
*ROWS, ROLL_UP = [json.loads(line) for line in (CASE / "attempts.jsonl").read_text().splitlines()]
TASK = Task("draft", "Say that you are done.")


def answers():
    """The case's rows as a server sends them: busy, a reply that no schema takes, a good one."""
    for row in ROWS:
        if row["usage"] is None:
            yield Answer({"error": {"message": "busy"}}, row["status"])
        else:
            said = "no JSON" if "rejected_by" in row else '{"finish": "done"}'
            used = {"prompt_tokens": row["usage"]["in"], "completion_tokens": row["usage"]["out"]}
            yield Answer({**completion(said), "usage": used})


async def run(server: ModelServer, store: MemoryEventStore) -> str:
    weak = OpenAIClient("weak", server.url, retries=1, backoff_s=0)
    desk = FunctionEnvironment.from_functions("desk", [], "Be short.", tasks=[TASK])
    try:
        return (
            await record(TASK, desk, {"weak": weak, "strong": ScriptedModel([accept()])}, SpecAgent(), store)
        ).episode
    finally:
        await weak.close()


def test_one_step_three_attempts_and_each_token_once_and_a_replay_asks_nobody():
    store = MemoryEventStore()
    with model_server() as server:
        server.chat(*answers())
        episode = asyncio.run(run(server, store))
        sent = len([one for one in server.received if one.method == "POST"])
        events = list(store.read(episode))
        replayed = asyncio.run(replay_episode(events))
        sent_after = len([one for one in server.received if one.method == "POST"])
    drafts = [e.body for e in events if isinstance(e.body, GenerateCompleted) and e.body.role == "drafter"]
    steps = [event.body for event in events if event.type == "step.drafted"]

    assert len(steps) == EXPECTED["calls"]
    assert sum(len(draft.attempts) for draft in drafts) == sent == EXPECTED["attempts"]
    assert [sum(d.usage.input for d in drafts), sum(d.usage.output for d in drafts)] == EXPECTED["spent"]
    assert {"in": EXPECTED["spent"][0], "out": EXPECTED["spent"][1]} == ROLL_UP["usage"]
    assert (drafts[-1].usage.input, drafts[-1].usage.output) == (400, 28)
    assert (replayed.result, sent_after) == ("same", sent)
