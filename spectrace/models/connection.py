"""A connection to one model server: what may leave, how long it may take, and an answer whole or as it arrives.

The `openai` package carries the requests of every dialect. It would take a key, an organisation and whole headers from
its own environment variables and follow redirects with them, so requests to any but the provider's own host pass a list
of allowed headers and redirects are refused. Whatever goes wrong is raised as a Failure, in words.
"""

import asyncio
import importlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, MutableMapping
from contextlib import aclosing
from typing import Any, Literal, Protocol

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


Progress = Literal["waiting", "begun", "done"]
"""How far an answer is: no token yet, some, or all of it."""
_CLOSING_S = 1.0
"""How long a connection is waited for once the answer is there: one that ends in order can be used again."""


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
        here = is_loopback(self._to.url)
        http = openai.DefaultAsyncHttpxClient(
            follow_redirects=False,
            # A proxy from the environment is never the way to a server on this machine.
            trust_env=not here,
            # Without TLS there is no certificate to check, and reading the list of authorities takes 50 ms.
            verify=not (here and self._to.url.startswith("http:")),
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

    async def stream(self, path: str, body: dict[str, object], take: Callable[[bytes], Progress]) -> tuple[str, bool]:
        """Hand each piece of the answer to `take` as it arrives; it says how far the answer is.

        Return the whole text, and whether it was a stream: some servers answer whole, whatever they are asked.
        """
        raw = bytearray()
        progress: Progress = "waiting"
        streamed = False
        try:
            async with asyncio.timeout(self._timeout_s) as limit:
                ends = asyncio.get_running_loop().time() + self._timeout_s
                response = await self._sdk.post(path, cast_to=_RESPONSE, body=body, options={"headers": _AS_IT_ARRIVES})
                streamed = "text/event-stream" in response.headers.get("content-type", "")
                # Closed at once, whatever stops the reading: an answer that nobody reads would go on.
                async with aclosing(_pieces(response)) as pieces:
                    async for piece in pieces:
                        raw += piece
                        if streamed:
                            progress = take(piece)
                            limit.reschedule(min(ends, self._silent(progress, ends)))
        except openai.APIError as error:
            raise failure_of(error, self._model, self._to) from None
        except TimeoutError:
            if progress != "done":
                raise too_slow(self._model, self._to, begun=progress == "begun") from None
        except _BROKEN as error:
            if progress != "done":
                raise broken_off(error, self._model, self._to) from None
        return raw.decode("utf-8", "replace"), streamed

    def _silent(self, progress: Progress, ends: float) -> float:
        """Return until when the stream may be silent."""
        now = asyncio.get_running_loop().time()
        match progress:
            case "waiting":
                return ends  # a long prompt is being read
            case "begun":
                return now + self._idle_s
            case "done":
                return now + _CLOSING_S

    async def close(self) -> None:
        """Let go of it."""
        await self._sdk.close()


class _Body(Protocol):
    """A response whose body is read as it arrives; httpx's or httpx2's."""

    @property
    def headers(self) -> Mapping[str, str]: ...
    def aiter_bytes(self) -> AsyncIterator[bytes]: ...
    async def aclose(self) -> None: ...


async def _pieces(response: _Body) -> AsyncGenerator[bytes, None]:
    """Yield the body's bytes as they come, and let go of the connection whatever happens."""
    try:
        async for piece in response.aiter_bytes():
            yield piece
    finally:
        await response.aclose()
