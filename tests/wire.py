"""A reply of the field's cases, sent by a real HTTP server and read by a real client."""

import asyncio
from pathlib import Path

from model_server import Answer, model_server

from spectrace.core.types import Completion, Message, ModelRequest
from spectrace.models.anthropic import AnthropicClient
from spectrace.models.http_model import HTTPModel
from spectrace.models.openai import OpenAIClient

HELLO = ModelRequest((Message("user", "hi"),))


def received(path: Path, request: ModelRequest = HELLO) -> Completion:
    """Return what a client makes of a file: a chat completion, a stream (.sse), or a message (anthropic_*)."""
    return received_text(path.read_text(encoding="utf-8"), path.name, request)


def received_text(text: str, name: str, request: ModelRequest = HELLO) -> Completion:
    """Return what a client makes of the text of such a file."""
    streamed, message = name.endswith(".sse"), name.startswith("anthropic_")
    answer = Answer(pieces=[text]) if streamed else Answer(text)

    async def ask(url: str) -> Completion:
        dialect: type[HTTPModel] = AnthropicClient if message else OpenAIClient
        client = dialect("weak-4b", url, calls="native", stream=streamed)
        try:
            return await client.generate(request)  # type: ignore[attr-defined]
        finally:
            await client.close()

    with model_server() as server:
        server.on("/v1/messages" if message else "/v1/chat/completions", answer)
        return asyncio.run(ask(server.url))
