"""SGLangClient: an SGLang server over HTTP, with what only SGLang says.

Chat completions as `openai.py` sends them, plus cached tokens when the server's report is switched off, the weight
version of each answer, and scored verdicts (`scoring.py`). The server's own description (/server_info) holds its API
key in clear text, several times and at several depths, so facts are an allow-list of names and plain values; nothing
else of it is kept.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from spectrace.core.types import Attempt, Completion, Message, ModelFacts, ModelRequest, Scoring, Usage
from spectrace.errors import ModelFailed
from spectrace.models import chat, scoring, tokenizing
from spectrace.models.failures import Failure, cut
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
    can_score: ClassVar[bool] = True
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

    async def generate(self, request: ModelRequest) -> Completion:
        """Answer in text, or (PROTOCOL section 6) with the log-probabilities of an answer about each step."""
        if request.scoring is None:
            return await super().generate(request)
        started = time.monotonic_ns()
        attempts: list[Attempt] = []
        url = self._endpoint.url
        try:
            return await self._scored(request, request.scoring, started, attempts)
        except Failure as failure:
            self._give_up(failure, started, attempts)
        except scoring.NotScorable as error:
            self._give_up(Failure("refused", f"{url} cannot score verdicts: {error}."), started, attempts)
        except chat.InvalidReply as error:
            self._give_up(Failure("invalid", f"A scored reply of {url} cannot be read: {error}."), started, attempts)

    async def _scored(self, request: ModelRequest, asked: Scoring, started: int, attempts: list[Attempt]) -> Completion:
        """Tokenize, lay the answers out as ids, and generate."""

        async def post(path: str, body: dict[str, object]) -> str:
            text = await self._tried(f"{self._root()}{path}", body, started, attempts)
            attempts.pop()  # the call's own attempts, and what failed on the way to it
            return text

        body = chat.request_body(self.name, request, self._parameters, constrained=False)
        prompt = await tokenizing.message_ids(post, body)
        pieces = await tokenizing.text_ids(post, self.name, scoring.pieces(asked))
        laid = scoring.answers(prompt, pieces, asked)

        parameters = {**self._adapter(), **self._parameters, **json.loads(request.parameters)}
        schema = request.schema if self._constrained else None
        sent = (
            scoring.score_body(laid, parameters)
            if asked.rejected is None
            else scoring.reject_body(laid, asked.rejected, schema, parameters)
        )
        answer = scoring.read_generated(await self._tried(f"{self._root()}/generate", sent, started, attempts))
        if answer.finish.get("type") == "abort":
            words = cut(self._endpoint.scrub(str(answer.finish.get("message"))))
            raise Failure("server", f"{self._endpoint.url} aborted a scored review: {words}")
        content = scoring.scores(answer.meta, laid) if asked.rejected is None else answer.text
        return Completion(
            message=Message("assistant", content),
            finish_reason=_plain(answer.finish.get("type")),
            usage=answer.usage,
            latency_us=(time.monotonic_ns() - started) // 1000,
            attempts=tuple(attempts),
            provider_id=_plain(answer.meta.get("id")),
            server=json.dumps(_versions(answer.meta), sort_keys=True) if _versions(answer.meta) else None,
        )

    def _adapter(self) -> dict[str, object]:
        """Return the LoRA adapter of NAME:ADAPTER, which /generate is told apart."""
        adapter = self.name.partition(":")[2]
        return {"lora_path": adapter} if adapter else {}

    def usage(self, reply: chat.Reply) -> Usage:
        """Return the counts, the cached ones from the details where the report is off."""
        usage = reply.usage
        if usage.cached is None and isinstance(extension := reply.body.get("sglext"), dict):
            return replace(usage, cached=_sum(extension.get("cached_tokens_details")))
        return usage

    def server_said(self, reply: chat.Reply) -> dict[str, object]:
        """Return the weight version of this answer and what stopped it."""
        said = super().server_said(reply) | _versions(reply.body.get("metadata"))
        return said | _kept(reply.choice, ("matched_stop",))


def _versions(page: object) -> dict[str, object]:
    """Return the weight version of an answer, and its spans where it changed within the answer."""
    said = _kept(page, ("weight_version",))
    spans = page.get("weight_versions") if isinstance(page, Mapping) else None
    if isinstance(spans, list) and len(spans) > 1:
        said["weight_versions"] = [_kept(span, ("version", "start", "end")) for span in spans]
    return said


def _plain(value: object) -> str | None:
    return value if isinstance(value, str) else None


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
