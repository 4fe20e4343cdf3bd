"""A connection to one model server: what may leave, how long it may take, and an answer whole or as it arrives.

The `openai` package carries the requests of every dialect. It would take a key, an organisation and whole headers from
its own environment variables and follow redirects with them, so requests to any but the provider's own host pass a list
of allowed headers and redirects are refused. Whatever goes wrong is raised as a Failure, in words.
"""

import asyncio
import importlib
from collections.abc import AsyncIterator, Callable, Mapping, MutableMapping
from typing import Any, Protocol

import openai

from spectrace.models.failures import broken_off, failure_of, too_slow
from spectrace.models.keys import Endpoint, is_loopback

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
_AS_IT_ARRIVES = {"X-Stainless-Raw-Response": "stream"}
"""Asks the package not to read the body itself; the header goes no further than to our own guard."""
# httpx or httpx2, whichever the `openai` package is built on.
_HTTP = importlib.import_module(openai.DefaultAsyncHttpxClient.__mro__[1].__module__.partition(".")[0])
_RESPONSE: type[Any] = _HTTP.Response
_BROKEN: type[Exception] = _HTTP.RequestError


class _Outgoing(Protocol):
    """A request about to leave."""

    @property
    def headers(self) -> MutableMapping[str, str]: ...


class Connection:
    """A connection to one model's server."""

    def __init__(  # noqa: PLR0913 - what a connection is made of, each by name
        self,
        model: str,
        to: Endpoint,
        *,
        headers: Mapping[str, str],
        keep_headers: bool,
        timeout_s: float,
        idle_s: float,
    ) -> None:
        """Contact nobody yet. `headers` go with every request; `keep_headers`: the package's own ones may go too."""
        self._model = model
        self._to = to
        self._headers = headers
        self._keep_headers = keep_headers
        self._timeout_s = timeout_s
        self._idle_s = idle_s
        self._sdk = self._connect()

    def _connect(self) -> openai.AsyncOpenAI:
        http = openai.DefaultAsyncHttpxClient(
            follow_redirects=False,
            # A proxy from the environment is never the way to a server on this machine.
            trust_env=not is_loopback(self._to.url),
            event_hooks={"request": [self._guard]},
        )
        base = self._to.url
        return openai.AsyncOpenAI(
            # A key is always given: with None the package looks for one itself. `_guard` sets the real header.
            api_key="unset",
            base_url=base if base.count("/") > len("//") else f"{base}/v1",
            default_query=dict(self._to.query),
            timeout=openai.Timeout(self._timeout_s, connect=_CONNECT_S),
            max_retries=0,
            http_client=http,
        )

    async def _guard(self, request: _Outgoing) -> None:
        """Let only what belongs to this endpoint leave: the last thing to happen to a request's headers."""
        if not self._keep_headers:
            for header in [name for name in request.headers if name.lower() not in _ALLOWED_HEADERS]:
                del request.headers[header]
        request.headers.pop("authorization", None)
        request.headers.update(self._headers)

    async def get(self, path: str, timeout_s: float) -> str:
        """Return the page at a path."""
        try:
            async with asyncio.timeout(timeout_s):
                return await self._sdk.get(path, cast_to=str)
        except (openai.APIError, TimeoutError) as error:
            raise failure_of(error, self._model, self._to) from None

    async def post(self, path: str, body: dict[str, object]) -> str:
        """Return the whole answer to a body."""
        try:
            # httpx bounds each read; a server that trickles bytes is bounded by this.
            async with asyncio.timeout(self._timeout_s):
                return await self._sdk.post(path, cast_to=str, body=body)
        except (openai.APIError, TimeoutError) as error:
            raise failure_of(error, self._model, self._to) from None

    async def stream(self, path: str, body: dict[str, object], take: Callable[[bytes], bool]) -> tuple[str, bool]:
        """Hand each piece of the answer to `take` as it arrives; it returns whether a first token has arrived.

        Return the whole text, and whether it was a stream: some servers answer whole, whatever they are asked.
        """
        raw, begun = bytearray(), False
        try:
            async with asyncio.timeout(self._timeout_s) as limit:
                ends = limit.when()
                response = await self._sdk.post(path, cast_to=_RESPONSE, body=body, options={"headers": _AS_IT_ARRIVES})
                streamed = "text/event-stream" in response.headers.get("content-type", "")
                async for piece in _pieces(response):
                    raw += piece
                    begun = streamed and take(piece)
                    if begun:
                        self._no_silence(limit, ends)
        except openai.APIError as error:
            raise failure_of(error, self._model, self._to) from None
        except TimeoutError:
            raise too_slow(self._model, self._to, begun=begun) from None
        except _BROKEN as error:
            raise broken_off(error, self._model, self._to) from None
        return raw.decode("utf-8", "replace"), streamed

    def _no_silence(self, limit: asyncio.Timeout, ends: float | None) -> None:
        """Give the stream so long until its next bytes; before the first token a long prompt is being read."""
        silent = asyncio.get_running_loop().time() + self._idle_s
        limit.reschedule(silent if ends is None else min(silent, ends))

    async def close(self) -> None:
        """Let go of it."""
        await self._sdk.close()


class _Body(Protocol):
    """A response whose body is read as it arrives; httpx's or httpx2's."""

    @property
    def headers(self) -> Mapping[str, str]: ...
    def aiter_bytes(self) -> AsyncIterator[bytes]: ...
    async def aclose(self) -> None: ...


async def _pieces(response: _Body) -> AsyncIterator[bytes]:
    """Yield the body's bytes as they come, and let go of the connection whatever happens."""
    try:
        async for piece in response.aiter_bytes():
            yield piece
    finally:
        await response.aclose()
