"""Case 094: a secret is known by its name and its place, not by a vendor's prefix; what only looks like one stays."""

import asyncio
import json
from pathlib import Path

from spectrace.core.events import ActCompleted
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Call, Finish
from spectrace.environments.functions import FunctionEnvironment, Task, tool
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.live import record
from spectrace.runs.replay import replay_episode
from spectrace.store.sql import open_store
from tests.playbook import accept
from tests.redaction import redactor

CASE = Path(__file__).parent
EXCHANGE = json.loads((CASE / "exchange.json").read_text())
EXPECTED = json.loads((CASE / "expected.json").read_text())


def open_environment() -> FunctionEnvironment:
    @tool(effect="read")
    def fetch() -> str:
        """Fetch the exchange."""
        return json.dumps(EXCHANGE["request"])

    @tool(effect="write")
    def run(env: dict, dsn: str) -> str:
        """Run something."""
        return EXCHANGE["tool_output"]

    return FunctionEnvironment.from_functions("case 094", (fetch, run), "Be careful.", tasks=(Task("t1", "Run it."),))


def test_no_secret_of_the_case_is_in_any_file_and_the_look_alikes_stay(tmp_path):
    store = open_store(f"sqlite:///{tmp_path / 'log.db'}")
    call = Call(EXCHANGE["tool_call"]["name"], json.dumps(EXCHANGE["tool_call"]["arguments"]))
    clients = {
        "weak": ScriptedModel([Call("fetch", "{}"), call, Finish("done")]),
        "strong": ScriptedModel([accept(), accept(), accept()]),
    }
    environment = open_environment()

    done = asyncio.run(record(environment.tasks()[0], environment, clients, SpecAgent(), store, redactor=redactor()))

    events = list(store.read(done.episode))
    said = repr(events)
    answers = [event.body.observation.content for event in events if isinstance(event.body, ActCompleted)]
    assert '"tokens": 128' in answers[0]
    assert "the password field is required" in answers[0]
    assert "lang=en" in answers[0]
    assert "plain text with the word secret" in answers[1]
    files = [path.read_bytes() for path in tmp_path.iterdir()]
    assert said.count("FAKE") + sum(data.count(b"FAKE") for data in files) == EXPECTED["grep_FAKE"]
    assert asyncio.run(replay_episode(events)).result == "same"
    store.close()
