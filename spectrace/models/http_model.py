"""HTTPModel: what every model behind an HTTP server shares: attempts, replies whole or streamed, facts, failures.

Retries are ours and listed as attempts of one completion; so are keys (see `keys.py`) and the reading of replies. What
was odd about a reply is recorded with the body as received. Counterpart of `connection.py`, which does the transport;
`openai.py`, `sglang.py` and `anthropic.py` say what is sent.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, NoReturn, Protocol, TypeVar

from spectrace.core.types import Attempt, Completion, ModelFacts, ModelRequest, Usage
from spectrace.errors import ModelFailed, UsageError
from spectrace.models import chat
from spectrace.models.connection import Connection, Progress
from spectrace.models.failures import Failure, broken_off, broken_reply, cut, said_error
from spectrace.models.keys import endpoint, is_own_host
from spectrace.models.stream import StreamBroken, StreamFailed

T = TypeVar("T")

_LIST_MODELS_S = 5.0
FACTS_S = 60.0
_LONGEST_WAIT_S = 30.0


class ReplyStream(Protocol):
    """The reply of one stream, as far as it has arrived: `stream.ChatStream` and its like."""

    @property
    def begun(self) -> bool:
        """Whether a first token has arrived."""
        ...

    @property
    def done(self) -> bool:
        """Whether the server said that nothing follows."""
        ...

    def feed(self, piece: bytes) -> None:
        """Take the next bytes."""
        ...

    def partial_text(self) -> str:
        """Return what can be read of an unfinished reply."""
        ...

    def reply(self) -> chat.Reply:
        """Return the reply; the server has ended the stream."""
        ...


@dataclass(frozen=True, slots=True)
class Dialect:
    """How replies of one API are read, whole and streamed."""

    read: Callable[[str], chat.Reply]
    stream: Callable[[], ReplyStream] | None
    """None: not streamed."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """A reply that has arrived."""

    reply: chat.Reply
    raw: str
    first_token_ns: int | None = None


class HTTPModel:
    """A model behind an HTTP server."""

    default_url: ClassVar[str]
    default_provider: ClassVar[str]
    headers: ClassVar[Mapping[str, str]] = {}
    """What the dialect adds to every request."""

    def __init__(  # noqa: PLR0913 - a model's options, each by name
        self,
        name: str,
        url: str | None = None,
        *,
        api_key: str | None = None,
        calls: Literal["json", "native"] = "json",
        constrained: bool | None = None,
        parameters: Mapping[str, object] | None = None,
        stream: bool = False,
        timeout_s: float = 600.0,
        idle_s: float = 60.0,
        provider: str | None = None,
        retries: int = 3,
        backoff_s: float = 0.5,
    ) -> None:
        """Contact nobody yet. `api_key` is what `keys.key_for` returned.

        `timeout_s` bounds each attempt; `idle_s` bounds the silence inside a stream, once it has begun.
        """
        self._provider = provider or self.default_provider
        if not name:
            raise UsageError(f"A model is {self._provider}:NAME[@URL], found no name.")
        if "stream" in (parameters or {}):
            raise UsageError(
                f"model {name!r}: whether answers are streamed is an option of the model and no parameter of a call: "
                "say stream = true beside its name, not below parameters."
            )
        self.name = name
        self._endpoint = endpoint(url or self.default_url, api_key)
        self._own_host = is_own_host(self._provider, self._endpoint.url)
        self._calls = calls
        self._constrained = self._constrains() if constrained is None else constrained
        self._parameters: dict[str, object] = {**self._defaults(), **(parameters or {})}
        self._stream = stream
        self._retries = retries
        self._backoff_s = backoff_s
        self._connection = Connection(
            name,
            self._endpoint,
            headers={**self.headers, **self._credentials()},
            # An organisation or project of the environment belongs to that provider's own host.
            keep_headers=self._own_host and self._provider == "openai",
            timeout_s=timeout_s,
            idle_s=idle_s,
        )

    def _constrains(self) -> bool:
        """Whether replies are constrained where the user does not say."""
        return True

    def _defaults(self) -> dict[str, object]:
        """Return the parameters that are sent where the user does not say."""
        return {"temperature": 0}

    def _credentials(self) -> dict[str, str]:
        """Return the headers that carry the key."""
        return {} if self._endpoint.authorization is None else {"authorization": self._endpoint.authorization}

    def _facts(self, server: Mapping[str, object]) -> ModelFacts:
        return ModelFacts(
            role="",
            provider=self._provider,
            name=self.name,
            url=self._endpoint.url,
            parameters=text_of(self._parameters),
            calls=self._calls,
            constrained=self._constrained,
            server=text_of({**server, "stream": True} if self._stream else server),
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

    def _entry(self, listing: list[dict[str, object]], names: tuple[str, ...]) -> dict[str, object]:
        """Return what the list says of this model under these names."""
        mine = next((entry for entry in listing if entry.get("id") == self.name), {})
        return {key: mine[key] for key in names if isinstance(mine.get(key), str | int)}

    def _refuse_scoring(self, request: ModelRequest) -> None:
        if request.scoring is not None:
            said = f"verdict=scored needs sglang: {self._provider}:{self.name} answers in text only."
            raise ModelFailed("refused", said)

    async def _answered(self, path: str, body: dict[str, object], dialect: Dialect) -> Completion:
        """Answer one request, or raise ModelFailed with every attempt."""
        started = time.monotonic_ns()
        attempts: list[Attempt] = []

        async def ask() -> _Answer:
            if dialect.stream is None:
                return self._read(await self._post(path, body), dialect)
            return await self._streamed(path, body, dialect, dialect.stream())

        try:
            answer = await self._attempted(ask, started, attempts)
        except Failure as failure:
            unknown = failure.status == 404  # noqa: PLR2004 - Not Found
            self._give_up(await self._unknown_model(failure) if unknown else failure, started, attempts)
        return self._completion(answer, body, started, attempts)

    async def _tried(self, path: str, body: dict[str, object], started: int, attempts: list[Attempt]) -> str:
        """Return the text of an answer; `attempts` grows by those that it took."""
        data = chat.sendable(body)
        return await self._attempted(lambda: self._post(path, data), started, attempts)

    async def _attempted(self, ask: Callable[[], Awaitable[T]], started: int, attempts: list[Attempt]) -> T:
        """Ask until there is an answer: connection errors, 408, 409, 429 and 5xx are tried again a few times."""
        failed = 0
        while True:
            begun = time.monotonic_ns()
            try:
                answer = await ask()
            except Failure as failure:
                error = self._endpoint.scrub(failure.message)
                attempts.append(Attempt(_us(begun - started), _us(time.monotonic_ns() - begun), error))
                failed += 1
                if not failure.again or failed > self._retries:
                    raise
                wait_s = self._backoff_s * 2 ** (failed - 1) if failure.wait_s is None else failure.wait_s
                await asyncio.sleep(min(wait_s, _LONGEST_WAIT_S))
            else:
                attempts.append(Attempt(_us(begun - started), _us(time.monotonic_ns() - begun)))
                return answer

    def _completion(
        self, answer: _Answer, body: Mapping[str, object], started: int, attempts: list[Attempt]
    ) -> Completion:
        reply, first = answer.reply, answer.first_token_ns
        server = self.server_said(reply)
        limit = body.get("max_completion_tokens", body.get("max_tokens"))
        anomalies = [*reply.anomalies, *chat.cut_anomaly(reply, limit)]
        if anomalies:
            server |= {"anomalies": anomalies, "raw": self._endpoint.scrub(answer.raw)}
        return Completion(
            message=reply.message,
            reasoning=reply.reasoning,
            finish_reason=reply.finish_reason,
            model=reply.model,
            usage=self.usage(reply),
            latency_us=_us(time.monotonic_ns() - started),
            first_token_us=None if first is None else _us(first - started),
            attempts=tuple(attempts),
            provider_id=reply.provider_id,
            server=text_of(server) if server else None,
        )

    def usage(self, reply: chat.Reply) -> Usage:
        """Return the token counts; a dialect may know of more places to look."""
        return reply.usage

    def server_said(self, reply: chat.Reply) -> dict[str, object]:
        """Return what the server said of itself with this answer."""
        said = {key: reply.body.get(key) for key in ("system_fingerprint", "service_tier")}
        message = reply.choice.get("message")
        said["refusal"] = message.get("refusal") if isinstance(message, Mapping) else None
        return {key: value for key, value in said.items() if isinstance(value, str) and value}

    async def _get(self, path: str, timeout_s: float) -> str:
        return await self._connection.get(path, timeout_s)

    async def _post(self, path: str, body: dict[str, object]) -> str:
        return await self._connection.post(path, body)

    def _read(self, text: str, dialect: Dialect) -> _Answer:
        try:
            error = chat.error_text(chat.read_object(text))
            if error is not None:
                raise said_error(error, self.name, self._endpoint)
            return _Answer(dialect.read(text), text)
        except chat.InvalidReply as invalid:
            raise broken_reply(invalid, text, self._endpoint) from None

    async def _streamed(self, path: str, body: dict[str, object], dialect: Dialect, reply: ReplyStream) -> _Answer:
        """Read the reply as it arrives; what had arrived before a failure goes with the failure."""
        pieces = bytearray()
        first: int | None = None

        def take(piece: bytes) -> Progress:
            nonlocal first
            pieces.extend(piece)
            reply.feed(piece)
            if first is None and reply.begun:
                first = time.monotonic_ns()
            return "done" if reply.done else "begun" if reply.begun else "waiting"

        try:
            text, streamed = await self._connection.stream(path, body, take)
            return _Answer(reply.reply(), text, first) if streamed else self._read(text, dialect)
        except Failure as failure:
            failure.partial_text = reply.partial_text()
            raise
        except StreamFailed as error:
            raise said_error(str(error), self.name, self._endpoint, reply.partial_text()) from None
        except StreamBroken as error:
            raise broken_off(error, self.name, self._endpoint, reply.partial_text()) from None
        except chat.InvalidReply as invalid:
            text = pieces.decode("utf-8", "replace")
            raise broken_reply(invalid, text, self._endpoint, reply.partial_text()) from None

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
        raise ModelFailed(
            failure.kind,
            self._endpoint.scrub(failure.message),
            partial_text=self._endpoint.scrub(failure.partial_text),
            latency_us=0 if started is None else _us(time.monotonic_ns() - started),
            attempts=tuple(attempts or ()),
        ) from None

    async def close(self) -> None:
        """Release the connections."""
        await self._connection.close()


def _us(nanoseconds: int) -> int:
    return nanoseconds // 1000


def text_of(value: Mapping[str, object]) -> str:
    """Return the value as the JSON text that is recorded of a server's words."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
