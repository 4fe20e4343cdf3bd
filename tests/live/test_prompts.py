"""The strong model's three prompts share their history in the tokens of real servers (PROTOCOL section 5)."""

import asyncio

import pytest

from spectrace.models.local import LocalClient
from spectrace.models.sglang import SGLangClient
from spectrace.runs.prefixes import shared_prefix

pytestmark = pytest.mark.live


def checked(client):
    async def go():
        try:
            return await shared_prefix(client, await client.facts())
        finally:
            await client.close()

    return asyncio.run(go())


@pytest.mark.parametrize("calls", ["json", "native"])
def test_llama_cpp_reads_the_history_once(calls):
    shared = checked(LocalClient("weak", calls=calls))

    assert shared.holds
    assert shared.history > 250


@pytest.mark.parametrize("calls", ["json", "native"])
def test_sglang_reads_the_history_once(sglang_url, calls):
    shared = checked(SGLangClient("weak", sglang_url, calls=calls))

    assert shared.holds
    assert shared.history > 250
