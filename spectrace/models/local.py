"""LocalClient: a GGUF file served by llama.cpp inside this process, through `xllamacpp`.

The server listens on a free port of 127.0.0.1 for a key that only this client knows, and `OpenAIClient` talks to it:
one dialect, one reading of replies. One slot and one thread: a second thread makes generation ten times slower beside
other work, and one slot keeps the prefix cache of a conversation. Starting takes one to three seconds, in which the
library holds Python's lock, plus the fetching of the weights where they are not in the cache yet.
"""

import asyncio
import json
import secrets
import threading
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from spectrace.core.types import Completion, ModelFacts, ModelRequest
from spectrace.errors import MissingExtra, ModelFailed, UsageError
from spectrace.models.catalogue import Entry, find, names
from spectrace.models.openai import OpenAIClient
from spectrace.models.partial import sha256_of
from spectrace.models.weights import Progress, fetch, silent

try:
    import xllamacpp
except ImportError:  # the extra `local` is not installed; said when a model is asked for
    xllamacpp = None

if TYPE_CHECKING:
    from xllamacpp import Server

_MAGIC = b"GGUF"
_SILENT = -1
_PROMPT_CACHE_MIB = 2048


class _Abandoned(Exception):
    """The client was closed while it fetched."""


class LocalClient:
    """A model in this process."""

    def __init__(  # noqa: PLR0913 - a model's options, each by name
        self,
        model: str,
        *,
        n_ctx: int = 8192,
        calls: Literal["json", "native"] = "json",
        constrained: bool = True,
        parameters: Mapping[str, object] | None = None,
        stream: bool = False,
        timeout_s: float = 900.0,
        idle_s: float = 60.0,
        progress: Progress = silent,
    ) -> None:
        """Name a model of the catalogue, or a GGUF file. Nothing is fetched or started yet."""
        if xllamacpp is None:
            raise MissingExtra(f"The local model {model!r}", "local")
        self._entry: Entry | None = find(model)
        self._path = None if self._entry is not None else _gguf(model)
        self.name = self._entry.name if self._entry is not None else Path(model).name
        self._n_ctx = n_ctx
        self._calls: Literal["json", "native"] = calls
        self._constrained = constrained
        self._parameters = dict(parameters or {})
        self._stream = stream
        self._timeout_s = timeout_s
        self._idle_s = idle_s
        self._progress = progress
        self._closed = threading.Event()
        self._starting = asyncio.Lock()
        self._server: Server | None = None
        self._client: OpenAIClient | None = None
        self._about: dict[str, object] = {}

    async def facts(self) -> ModelFacts:
        """Fetch the weights if need be, start the server, and say which bytes and which engine answer."""
        client = await self._started()
        return replace(await client.facts(), url=None, server=json.dumps(self._about, sort_keys=True))

    async def generate(self, request: ModelRequest) -> Completion:
        """Answer one request."""
        client = await self._started()
        return await client.generate(request)

    async def prompt_ids(self, request: ModelRequest) -> tuple[int, ...]:
        """Return the prompt's tokens as the server makes them."""
        client = await self._started()
        return await client.prompt_ids(request)

    async def close(self) -> None:
        """Stop the server, and a fetch that is under way."""
        self._closed.set()
        if self._client is not None:
            await self._client.close()
            self._client = None
        server, self._server = self._server, None
        del server  # the library's only way to stop it; nothing else holds a reference

    async def _started(self) -> OpenAIClient:
        async with self._starting:
            if self._closed.is_set():
                raise ModelFailed("unreachable", f"The local model {self.name!r} was closed.")
            if self._client is None:
                try:
                    path, sha256 = await asyncio.to_thread(self._weights)
                except asyncio.CancelledError:
                    self._closed.set()  # or the thread would go on fetching, and the process wait for it
                    raise
                except _Abandoned:
                    raise ModelFailed("unreachable", f"The local model {self.name!r} was closed.") from None
                self._client = self._start(path, sha256)
            return self._client

    def _weights(self) -> tuple[Path, str]:
        if self._entry is not None:
            return fetch(self._entry, self._tell), self._entry.sha256
        if self._path is None:
            raise ValueError("a local model is an entry of the catalogue or a path")
        return self._path, sha256_of(self._path)

    def _tell(self, done: int, total: int, note: str) -> None:
        if self._closed.is_set():
            raise _Abandoned
        self._progress(done, total, note)

    def _start(self, path: Path, sha256: str) -> OpenAIClient:
        key = secrets.token_hex(16)
        try:
            self._server = xllamacpp.Server(self._settings(path, key))
        except RuntimeError as error:
            raise ModelFailed(
                "unreachable",
                f"llama.cpp could not load {path} ({error}). Is it a whole GGUF file of a model that it knows, and is "
                f"there memory for {path.stat().st_size // 10**6} MB and a context of {self._n_ctx} tokens?",
            ) from error
        self._about = {
            "engine": "xllamacpp",
            "engine_version": version("xllamacpp"),
            "file": path.name,
            "size": path.stat().st_size,
            "digest": f"sha256:{sha256}",
            "n_ctx": self._n_ctx,
            "threads": 1,
        }
        if self._stream:
            self._about["stream"] = True
        if self._entry is not None:
            self._about |= {"repository": self._entry.repository, "licence": self._entry.licence}
        return OpenAIClient(
            self.name,
            f"{self._server.listening_address}/v1",
            api_key=key,
            calls=self._calls,
            constrained=self._constrained,
            parameters=self._parameters,
            stream=self._stream,
            timeout_s=self._timeout_s,
            idle_s=self._idle_s,
            provider="local",
        )

    def _settings(self, path: Path, key: str) -> "xllamacpp.CommonParams":
        settings = xllamacpp.CommonParams()
        settings.model.path = str(path)
        settings.model_alias = {self.name}
        settings.hostnames = ["127.0.0.1"]
        settings.port = 0
        # Any page in the user's browser could reach the port: hence the key, and no origin allowed.
        settings.api_keys = [key]
        settings.cors_origins = ""
        settings.ui = False
        settings.endpoint_slots = False
        settings.n_ctx = self._n_ctx
        settings.n_parallel = 1
        settings.cpuparams.n_threads = 1
        settings.cpuparams_batch.n_threads = 1
        settings.cache_prompt = True
        settings.cache_ram_mib = _PROMPT_CACHE_MIB
        settings.verbosity = _SILENT  # llama.cpp logs to the process's stderr, whatever Python does with its own
        return settings


def _gguf(model: str) -> Path:
    path = Path(model).expanduser()
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        raise UsageError(
            f"A local model is a name of the catalogue ({names()}) or the path of a GGUF file; "
            f"{model!r} is neither ({error.strerror})."
        ) from error
    if magic != _MAGIC:
        raise UsageError(f"{model} is no GGUF file: it begins with {magic!r}, expected {_MAGIC!r}.")
    return path
