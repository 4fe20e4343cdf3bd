"""SGLangClient: an SGLang server over HTTP, with what only SGLang says.

Chat completions as `openai.py` sends them, plus cached tokens when the server's report is switched off, and the weight
version of each answer. The server's own description (/server_info) holds its API key in clear text, several times and
at several depths, so facts are an allow-list of names and plain values; nothing else of it is kept.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from spectrace.core.types import ModelFacts, Usage
from spectrace.errors import ModelFailed
from spectrace.models import chat
from spectrace.models.failures import Failure
from spectrace.models.openai import FACTS_S, OpenAIClient

SGLANG_URL = "http://127.0.0.1:30000"

_MODEL_FACTS = (
    "model_path",
    "served_model_name",
    "weight_version",
    "model_type",
    "reasoning_parser",
    "tool_call_parser",
)
_SERVER_FACTS = (
    "version",
    "context_length",
    "dtype",
    "kv_cache_dtype",
    "quantization",
    "attention_backend",
    "sampling_backend",
    "grammar_backend",
    "random_seed",
    "enable_deterministic_inference",
    "page_size",
    "tp_size",
    "dp_size",
    "chat_template",
    "disable_radix_cache",
    "enable_cache_report",
    "schedule_policy",
    "speculative_algorithm",
)
_ANY_NAME = "default"
"""The name that SGLang's own examples use for whatever is served."""


class SGLangClient(OpenAIClient):
    """A model behind an SGLang server."""

    default_url: ClassVar[str] = SGLANG_URL
    default_provider: ClassVar[str] = "sglang"
    # Old servers ignore a field that they do not know.
    extras: ClassVar[Mapping[str, object]] = {"return_cached_tokens_details": True}

    async def facts(self) -> ModelFacts:
        """Ask the server what it serves and how; refuse a name that it does not serve."""
        model = await self._described("model_info", "get_model_info")
        server = await self._described("server_info", "get_server_info")
        if not model and not server:
            raise ModelFailed(
                "refused",
                f"{self._endpoint.url} answers, but not as SGLang does (no /model_info, no /server_info): "
                f"name the model openai:{self.name}@URL.",
            )
        await self._check_served()
        return self._facts(_kept(server, _SERVER_FACTS) | _kept(model, _MODEL_FACTS))

    async def _check_served(self) -> None:
        """SGLang answers under any name; a wrong one would be recorded as if that had been the model."""
        served = {str(entry.get("id")) for entry in await self._listing()}
        base = self.name.partition(":")[0]  # NAME:ADAPTER asks for a LoRA adapter
        if served and self.name != _ANY_NAME and not served & {self.name, base}:
            raise ModelFailed(
                "refused", f"{self._endpoint.url} has no model {self.name!r}. It serves: {', '.join(sorted(served))}."
            )

    async def _described(self, path: str, old_path: str) -> dict[str, object]:
        """Return a page of the server's own description, under its present or its former name."""
        for candidate in (path, old_path):
            try:
                return chat.read_object(await self._get(f"{self._root()}/{candidate}", FACTS_S))
            except chat.InvalidReply:
                continue
            except Failure as failure:
                if failure.status != 404:  # noqa: PLR2004 - Not Found
                    self._give_up(failure)
        return {}

    def _root(self) -> str:
        return self._endpoint.url.removesuffix("/v1")

    def usage(self, reply: chat.Reply) -> Usage:
        """Return the counts, the cached ones from the details where the report is off."""
        usage = reply.usage
        if usage.cached is None and isinstance(extension := reply.body.get("sglext"), dict):
            return replace(usage, cached=_sum(extension.get("cached_tokens_details")))
        return usage

    def server_said(self, reply: chat.Reply) -> dict[str, object]:
        """Return the weight version of this answer and what stopped it."""
        said = super().server_said(reply)
        metadata = reply.body.get("metadata")
        if isinstance(metadata, dict):
            said |= _kept(metadata, ("weight_version",))
            spans = metadata.get("weight_versions")
            if isinstance(spans, list) and len(spans) > 1:
                said["weight_versions"] = [_kept(span, ("version", "start", "end")) for span in spans]
        return said | _kept(reply.choice, ("matched_stop",))


def _kept(page: object, names: tuple[str, ...]) -> dict[str, object]:
    """Return the named members that are plain values: a nested one could hold anything."""
    if not isinstance(page, Mapping):
        return {}
    return {name: page[name] for name in names if isinstance(page.get(name), str | int | float | bool)}


def _sum(details: object) -> int | None:
    """Return the cached tokens over the levels (device, host, storage); a level may be absent."""
    if not isinstance(details, Mapping):
        return None
    counts = [found for level in ("device", "host", "storage") if (found := chat.count(details.get(level))) is not None]
    return sum(counts) if counts else None
