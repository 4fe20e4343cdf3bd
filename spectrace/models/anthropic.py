"""AnthropicClient: a model behind Anthropic's Messages API, at api.anthropic.com or at a server that speaks it too.

Plain HTTP over the same connection as the other dialects, not the `anthropic` package. The package takes keys, tokens,
profiles, a base URL and headers from the environment and from files, each of which would have to be undone before a key
is safe; the body is ours anyway, as its `create` has no `temperature`. What one would miss, retries and streams, is
shared with every dialect here.

Replies are constrained (structured outputs) on its own host, unless the model's table says otherwise; other servers
take the schema and ignore it (llama.cpp does), so there `constrained` is false unless the table says true. What a model
thinks is recorded and not sent back, as with every dialect; thinking that insists on it is no parameter to set here.
`parameters.cache_control = {type = "ephemeral"}` asks for the prompt cache.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from spectrace.core.types import Completion, ModelFacts, ModelRequest
from spectrace.models import anthropic_messages, chat
from spectrace.models.http_model import Dialect, HTTPModel, text_of
from spectrace.models.message_stream import MessageStream
from spectrace.models.schemas import enforced

ANTHROPIC_URL = "https://api.anthropic.com/v1"
_LONGEST = 8192
"""Tokens of an answer where nothing else is said: the API insists on a limit."""
_ABOUT = ("display_name", "created_at", "lifecycle", "max_input_tokens", "owned_by", "max_model_len")


class AnthropicClient(HTTPModel):
    """A model behind the Messages API."""

    default_url: ClassVar[str] = ANTHROPIC_URL
    default_provider: ClassVar[str] = "anthropic"
    headers: ClassVar[Mapping[str, str]] = {"anthropic-version": "2023-06-01"}

    def _credentials(self) -> dict[str, str]:
        """Return the key in the API's own header; elsewhere in the usual one too, which some servers read alone."""
        key = self._endpoint.key
        own = {} if key is None else {"x-api-key": key}
        return own if self._own_host else {**super()._credentials(), **own}

    def _defaults(self) -> dict[str, object]:
        # Its newest models refuse a temperature, and its own package has none to send.
        return {"max_tokens": _LONGEST} if self._own_host else {"max_tokens": _LONGEST, "temperature": 0}

    def _constrains(self) -> bool:
        return self._own_host

    async def facts(self) -> ModelFacts:
        """Ask the server for its models; a server that keeps no such list is reachable all the same."""
        return self._facts(self._entry(await self._listing(), _ABOUT))

    async def generate(self, request: ModelRequest) -> Completion:
        """Answer one request; passing trouble is tried again a bounded number of times."""
        self._refuse_scoring(request)
        wanted = request.schema is not None and self._constrained
        schema = enforced(json.loads(request.schema or "{}"), all_required=False) if wanted else None
        body = anthropic_messages.request_body(self.name, request, self._parameters, schema=schema)
        streamed = {"stream": True} if self._stream else {}
        dialect = Dialect(anthropic_messages.read_reply, MessageStream if self._stream else None)
        answer = await self._answered("/messages", chat.sendable({**body.sent, **streamed}), dialect)
        notes: dict[str, object] = {"not_sent": list(body.not_sent)} if body.not_sent else {}
        if wanted and schema is None:
            notes["schema"] = "not enforced: it has free members"
        if not notes:
            return answer
        return replace(answer, server=text_of({**json.loads(answer.server or "{}"), **notes}))

    def server_said(self, reply: chat.Reply) -> dict[str, object]:
        """Return what stopped it, and what its input put into the cache."""
        usage = reply.body.get("usage")
        counts = usage if isinstance(usage, Mapping) else {}
        said = {"stop_sequence": reply.body.get("stop_sequence"), "service_tier": counts.get("service_tier")}
        kept: dict[str, object] = {name: value for name, value in said.items() if isinstance(value, str)}
        written = chat.count(counts.get("cache_creation_input_tokens"))
        return kept | ({"cache_creation_input_tokens": written} if written else {})
