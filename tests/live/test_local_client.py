"""The local client on the real weak model; needs the catalogue's weights (0.5 GB, fetched once)."""

import asyncio
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from spectrace.core.types import Message, ModelRequest, ToolSpec
from spectrace.errors import ModelFailed
from spectrace.models.local import LocalClient

pytestmark = pytest.mark.live

SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"verdict": {"type": "string", "enum": ["accept", "reject"]}},
        "required": ["verdict"],
        "additionalProperties": False,
    }
)
RULES = "You review orders. An order may be cancelled only while it is pending. " * 10


def question(text):
    return ModelRequest(
        (Message("system", RULES), Message("user", text)), schema=SCHEMA, parameters='{"max_tokens": 40}'
    )


def run(conversation, **options):
    async def go():
        client = LocalClient("weak", **options)
        try:
            return await conversation(client)
        finally:
            await client.close()

    return asyncio.run(go())


def test_a_constrained_reply_parses_and_the_next_call_reuses_the_prefix():
    async def conversation(client):
        return [await client.generate(question(text)) for text in ("Cancel W1, pending.", "Cancel W2, shipped.")]

    first, second = run(conversation)

    for answer in (first, second):
        assert json.loads(answer.message.content)["verdict"] in {"accept", "reject"}
        assert answer.model == "qwen2.5-coder-0.5b"
    assert first.usage.cached == 0
    assert second.usage.cached > 100
    assert second.usage.input > second.usage.cached


LOOK = ToolSpec("look", "Look up an order.", '{"type": "object", "properties": {"id": {"type": "string"}}}')
ASKED = [
    ModelRequest((Message("user", "Say hello to Zoë 😀."),), parameters='{"max_tokens": 24, "temperature": 0}'),
    question("Cancel W1, pending."),
    ModelRequest((Message("user", "Look up the order W200."),), tools=(LOOK,), parameters='{"max_tokens": 40}'),
]


def test_a_streamed_reply_equals_the_unstreamed_one():
    async def conversation(client):
        return [await client.generate(request) for request in ASKED]

    whole, streamed = run(conversation), run(conversation, stream=True)

    for one, other in zip(whole, streamed, strict=True):
        assert (one.message, one.finish_reason, one.model) == (other.message, other.finish_reason, other.model)
        assert (one.usage, one.server) == (other.usage, other.server)
        assert one.first_token_us is None
        assert 0 < other.first_token_us < other.latency_us


def test_facts_name_the_bytes_and_the_engine():
    facts = run(lambda client: client.facts())
    server = json.loads(facts.server)

    assert (facts.provider, facts.name, facts.url) == ("local", "qwen2.5-coder-0.5b", None)
    assert server["digest"] == "sha256:1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"
    assert (server["engine"], server["threads"], server["n_ctx"]) == ("xllamacpp", 1, 8192)


def test_a_prompt_that_does_not_fit_is_a_context_failure():
    with pytest.raises(ModelFailed) as raised:
        run(lambda client: client.generate(question("word " * 2000)), n_ctx=512)

    assert raised.value.kind == "context"


def test_nobody_without_the_key_is_answered_and_close_stops_the_server():
    async def conversation(client):
        await client.facts()
        return client._server.listening_address, *[await asyncio.to_thread(status, client._server.listening_address)]

    address, while_open = run(conversation)

    assert while_open == 401
    with pytest.raises(urllib.error.URLError, match="refused"):
        status(address)


def status(address):
    request = urllib.request.Request(f"{address}/v1/chat/completions", data=b"{}")  # noqa: S310 - our own server
    try:
        with urllib.request.urlopen(request, timeout=5) as response:  # noqa: S310 - the same
            return response.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


PROGRAM = """
import asyncio
from spectrace.core.types import Message, ModelRequest, ToolSpec
from spectrace.models.local import LocalClient

async def go():
    client = LocalClient("weak", n_ctx=512)
    await client.generate(ModelRequest((Message("user", "hi"),), parameters='{"max_tokens": 2}'))
    await client.close()

asyncio.run(go())
"""


def test_llama_cpp_writes_nothing_on_the_programs_streams():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, check=False, env=os.environ, timeout=120
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
