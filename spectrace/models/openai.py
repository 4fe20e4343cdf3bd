"""OpenAIClient: any OpenAI-compatible chat server, through the `openai` package.

Ours, not the package's: retries (listed as attempts of one completion), keys (see `keys.py`) and the reading of replies
(see `chat.py`). The package would take a key, an organisation and whole headers from its own environment variables and
follow redirects with them, so requests to any but the provider's own host pass a list of allowed headers and redirects
are refused.
"""

import asyncio
import json
import time
from collections.abc import Mapping, MutableMapping
from typing import ClassVar, Literal, NoReturn, Protocol

import openai

from spectrace.core.types import Attempt, Completion, ModelFacts, ModelRequest, Usage
from spectrace.errors import ModelFailed, UsageError
from spectrace.models import chat
from spectrace.models.failures import Failure, cut, failure_of
from spectrace.models.keys import endpoint, is_loopback, is_own_host

OPENAI_URL = "https://api.openai.com/v1"

_ALLOWED_HEADERS = frozenset(
    [
        "accept",
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "host",
        "transfer-encoding",
        "user-agent",
    ]
)
_CONNECT_S = 5.0
_LIST_MODELS_S = 5.0
FACTS_S = 60.0
_LONGEST_WAIT_S = 30.0


class _Outgoing(Protocol):
    """A request about to leave; httpx or httpx2, whichever the `openai` package uses."""

    @property
    def headers(self) -> MutableMapping[str, str]: ...


class OpenAIClient:
    """A model behind an OpenAI-compatible server."""

    default_url: ClassVar[str] = OPENAI_URL
    default_provider: ClassVar[str] = "openai"
    extras: ClassVar[Mapping[str, object]] = {}
    """What the dialect adds to every request body."""

    def __init__(  # noqa: PLR0913 - a model's options, each by name
        self,
        name: str,
        url: str | None = None,
        *,
        api_key: str | None = None,
        calls: Literal["json", "native"] = "json",
        constrained: bool = True,
        parameters: Mapping[str, object] | None = None,
        timeout_s: float = 600.0,
        provider: str | None = None,
        retries: int = 3,
        backoff_s: float = 0.5,
    ) -> None:
        """Contact nobody yet. `timeout_s` bounds each attempt; `api_key` is what `keys.key_for` returned."""
        self._provider = provider or self.default_provider
        if not name:
            raise UsageError(f"A model is {self._provider}:NAME[@URL], found no name.")
        self.name = name
        self._endpoint = endpoint(url or self.default_url, api_key)
        self._calls = calls
        self._constrained = constrained
        self._parameters: dict[str, object] = {"temperature": 0, **(parameters or {})}
        self._timeout_s = timeout_s
        self._retries = retries
        self._backoff_s = backoff_s
        self._own_host = is_own_host(self._provider, self._endpoint.url)
        self._sdk = self._connect()

    def _connect(self) -> openai.AsyncOpenAI:
        http = openai.DefaultAsyncHttpxClient(
            follow_redirects=False,
            # A proxy from the environment is never the way to a server on this machine.
            trust_env=not is_loopback(self._endpoint.url),
            event_hooks={"request": [self._guard]},
        )
        base = self._endpoint.url
        return openai.AsyncOpenAI(
            # A key is always given: with None the package looks for one itself. `_guard` sets the real header.
            api_key="unset",
            base_url=base if base.count("/") > len("//") else f"{base}/v1",
            default_query=dict(self._endpoint.query),
            timeout=openai.Timeout(self._timeout_s, connect=_CONNECT_S),
            max_retries=0,
            http_client=http,
        )

    async def _guard(self, request: _Outgoing) -> None:
        """Let only what belongs to this endpoint leave: the last thing to happen to a request's headers."""
        if not self._own_host:
            for header in [name for name in request.headers if name.lower() not in _ALLOWED_HEADERS]:
                del request.headers[header]
        request.headers.pop("authorization", None)
        if self._endpoint.authorization is not None:
            request.headers["authorization"] = self._endpoint.authorization

    async def facts(self) -> ModelFacts:
        """Ask the server for its models; a server that keeps no such list is reachable all the same."""
        return self._facts(self._entry(await self._listing()))

    def _facts(self, server: Mapping[str, object]) -> ModelFacts:
        return ModelFacts(
            role="",
            provider=self._provider,
            name=self.name,
            url=self._endpoint.url,
            parameters=_text(self._parameters),
            calls=self._calls,
            constrained=self._constrained,
            server=_text(server),
        )

    async def _listing(self) -> list[dict[str, object]]:
        """Return the entries of GET /models, or none where the server has no such page."""
        try:
            listed = chat.read_object(await self._get("/models", FACTS_S)).get("data")
        except chat.InvalidReply:
            return []
        except Failure as failure:
            if failure.status in {404, 405, 501}:
                return []
            self._give_up(failure)
        return [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []

    def _entry(self, listing: list[dict[str, object]]) -> dict[str, object]:
        """Return what the list says of this model, paths left out."""
        mine = next((entry for entry in listing if entry.get("id") == self.name), {})
        return {key: mine[key] for key in ("owned_by", "max_model_len") if isinstance(mine.get(key), str | int)}

    async def generate(self, request: ModelRequest) -> Completion:
        """Answer one request; connection errors, 408, 409, 429 and 5xx are tried again a bounded number of times."""
        if request.scoring is not None:
            said = f"verdict=scored needs sglang: {self._provider}:{self.name} answers in text only."
            raise ModelFailed("refused", said)
        body = chat.request_body(self.name, request, self._parameters, constrained=self._constrained)
        started = time.monotonic_ns()
        attempts: list[Attempt] = []
        try:
            text = await self._tried("/chat/completions", {**body, **self.extras}, started, attempts)
        except Failure as failure:
            unknown = failure.status == 404  # noqa: PLR2004 - Not Found
            self._give_up(await self._unknown_model(failure) if unknown else failure, started, attempts)
        return self._completion(text, started, attempts)

    async def _tried(self, path: str, body: dict[str, object], started: int, attempts: list[Attempt]) -> str:
        """Post; again after what may pass. Every attempt is listed; raises the last one's Failure."""
        data = chat.sendable(body)
        tries = 0
        while True:
            begun = time.monotonic_ns()
            tries += 1
            try:
                text = await self._post(path, data)
            except Failure as failure:
                error = self._endpoint.scrub(failure.message)
                attempts.append(Attempt(_us(begun - started), _us(time.monotonic_ns() - begun), error))
                if not failure.again or tries > self._retries:
                    raise
                wait_s = self._backoff_s * 2 ** (tries - 1) if failure.wait_s is None else failure.wait_s
                await asyncio.sleep(min(wait_s, _LONGEST_WAIT_S))
            else:
                attempts.append(Attempt(_us(begun - started), _us(time.monotonic_ns() - begun)))
                return text

    def _completion(self, text: str, started: int, attempts: list[Attempt]) -> Completion:
        try:
            error = chat.error_text(chat.read_object(text))
            if error is not None:
                kind = "context" if chat.says_context(error) else "server"
                words = cut(self._endpoint.scrub(error))
                said = f"{self._endpoint.url} answered 200 with an error for the model {self.name!r}: {words}"
                self._give_up(Failure(kind, said), started, attempts)
            reply = chat.read_reply(text)
        except chat.InvalidReply as error:
            begins = cut(self._endpoint.scrub(text), 120)
            said = f"The reply of {self._endpoint.url} is no chat completion: {error}. It begins {begins!r}."
            self._give_up(Failure("invalid", said), started, attempts)
        server = self.server_said(reply)
        return Completion(
            message=reply.message,
            reasoning=reply.reasoning,
            finish_reason=reply.finish_reason,
            model=reply.model,
            usage=self.usage(reply),
            latency_us=_us(time.monotonic_ns() - started),
            attempts=tuple(attempts),
            provider_id=reply.provider_id,
            server=_text(server) if server else None,
        )

    def usage(self, reply: chat.Reply) -> Usage:
        """Return the token counts; a dialect may know of more places to look."""
        return reply.usage

    def server_said(self, reply: chat.Reply) -> dict[str, object]:
        """Return what the server said of itself with this answer."""
        said = {key: reply.body.get(key) for key in ("system_fingerprint", "service_tier")}
        message = reply.choice.get("message")
        said["refusal"] = message.get("refusal") if isinstance(message, Mapping) else None
        return {key: value for key, value in said.items() if isinstance(value, str)}

    async def _get(self, path: str, timeout_s: float) -> str:
        try:
            async with asyncio.timeout(timeout_s):
                return await self._sdk.get(path, cast_to=str)
        except (openai.APIError, TimeoutError) as error:
            raise failure_of(error, self.name, self._endpoint) from None

    async def _post(self, path: str, body: dict[str, object]) -> str:
        try:
            # httpx bounds each read; a server that trickles bytes is bounded by this.
            async with asyncio.timeout(self._timeout_s):
                return await self._sdk.post(path, cast_to=str, body=body)
        except (openai.APIError, TimeoutError) as error:
            raise failure_of(error, self.name, self._endpoint) from None

    async def _unknown_model(self, failure: Failure) -> Failure:
        """Add the models that there are, if the server says."""
        try:
            listed = chat.read_object(await self._get("/models", _LIST_MODELS_S)).get("data")
        except (Failure, chat.InvalidReply):
            listed = None
        names = (
            [str(entry.get("id")) for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
        )
        hint = (
            f"It serves: {cut(self._endpoint.scrub(', '.join(sorted(names))))}."
            if names
            else "It lists no models either: check the URL's path (most servers want .../v1)."
        )
        said = f"{self._endpoint.url} has no model {self.name!r}. {hint} Its words: {failure.message}"
        return Failure("refused", said, status=failure.status)

    def _give_up(self, failure: Failure, started: int | None = None, attempts: list[Attempt] | None = None) -> NoReturn:
        message = self._endpoint.scrub(failure.message)
        latency = 0 if started is None else _us(time.monotonic_ns() - started)
        raise ModelFailed(failure.kind, message, latency_us=latency, attempts=tuple(attempts or ())) from None

    async def close(self) -> None:
        """Release the connections."""
        await self._sdk.close()


def _us(nanoseconds: int) -> int:
    return nanoseconds // 1000


def _text(value: Mapping[str, object]) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
