"""OpenAIClient: any OpenAI-compatible chat server, whole or streamed.

What is sent is `chat.request_body`; servers of one's own take any schema of a reply. OpenAI's own host takes an object
only: there the reply is asked for as the one property of an object, and unwrapped when it is read, which is
noted with the answer. Its strict mode takes no optional property: where a tool has one, the schema is sent as a
description that is not enforced, which is noted too; the reply is checked here in any case.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from spectrace.core.types import Completion, ModelFacts, ModelRequest
from spectrace.errors import ModelFailed
from spectrace.models import chat, tokenizing
from spectrace.models.failures import Failure
from spectrace.models.http_model import FACTS_S, Dialect, HTTPModel, text_of
from spectrace.models.schemas import enforced, unwrapped, wrapped
from spectrace.models.stream import ChatStream

__all__ = ["FACTS_S", "OPENAI_URL", "OpenAIClient"]

OPENAI_URL = "https://api.openai.com/v1"
_STREAMED = {"stream": True, "stream_options": {"include_usage": True}}


class OpenAIClient(HTTPModel):
    """A model behind an OpenAI-compatible server."""

    default_url: ClassVar[str] = OPENAI_URL
    default_provider: ClassVar[str] = "openai"
    extras: ClassVar[Mapping[str, object]] = {}
    """What the dialect adds to every request body."""

    async def facts(self) -> ModelFacts:
        """Ask the server for its models; a server that keeps no such list is reachable all the same."""
        return self._facts(self._entry(await self._listing(), ("owned_by", "max_model_len")))

    async def generate(self, request: ModelRequest) -> Completion:
        """Answer one request; passing trouble is tried again a bounded number of times."""
        self._refuse_scoring(request)
        direct = not self._own_host
        body = chat.request_body(self.name, request, self._parameters, constrained=self._constrained and direct)
        how = None if direct else self._wrap(body, request)
        streamed = _STREAMED if self._stream else {}
        dialect = Dialect(chat.read_reply, ChatStream if self._stream else None)
        data = chat.sendable({**streamed, **body, **self.extras})
        answer = await self._answered("/chat/completions", data, dialect)
        return answer if how is None else _unwrapped(answer, how)

    def _wrap(self, body: dict[str, object], request: ModelRequest) -> str | None:
        """Add the schema in the form of OpenAI's own host; return how, for the record."""
        if request.schema is None or not self._constrained:
            return None
        schema = json.loads(request.schema)
        strict = enforced(schema, all_required=True)
        form = {"name": "reply", "strict": strict is not None, "schema": wrapped(schema if strict is None else strict)}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
        return (
            "wrapped in an object, not enforced: it has optional or free members"
            if strict is None
            else ("wrapped in an object")
        )

    async def prompt_ids(self, request: ModelRequest) -> tuple[int, ...]:
        """Return the prompt's tokens as the server makes them; raise ModelFailed where it has no page for that."""
        if self._own_host:
            raise ModelFailed("refused", f"{self._endpoint.url} has no page that tokenizes a prompt.")
        body = chat.request_body(self.name, request, self._parameters, constrained=False)
        try:
            return await tokenizing.prompt_ids(self._post_to_root, chat.sendable(body))
        except Failure as failure:
            self._give_up(failure)
        except chat.InvalidReply as error:
            self._give_up(Failure("invalid", f"{self._endpoint.url} gave no tokens of a prompt: {error}."))

    async def _post_to_root(self, path: str, body: dict[str, object]) -> str:
        return await self._post(f"{self._root()}{path}", body)

    def _root(self) -> str:
        return self._endpoint.url.removesuffix("/v1")


def _unwrapped(answer: Completion, how: str) -> Completion:
    """Return the answer as if the schema had been sent as it is, with a note that it was not."""
    inside = unwrapped(answer.message.content)
    message = answer.message if inside is None else replace(answer.message, content=inside)
    said = {**json.loads(answer.server or "{}"), "schema": how}
    return replace(answer, message=message, server=text_of(said))
