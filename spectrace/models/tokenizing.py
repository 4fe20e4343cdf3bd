"""The tokens of a prompt as a server itself makes them, chat template and all.

Two dialects: SGLang and vLLM tokenize messages on one page (/tokenize); llama.cpp renders them first (/apply-template).
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from spectrace.models import chat
from spectrace.models.failures import Failure

Post = Callable[[str, dict[str, object]], Awaitable[str]]
"""Post a body to a page below the server's root; raise Failure."""

SHAPING = ("chat_template_kwargs", "continue_final_message", "reasoning_effort", "tool_choice")
"""Parameters of a chat completion that shape its prompt."""
_NOT_THERE = frozenset({400, 404, 405, 422, 501})


def shaping(body: Mapping[str, object]) -> dict[str, object]:
    """Return what shapes the prompt of a chat completion's body."""
    return {name: body[name] for name in ("model", "messages", "tools", *SHAPING) if name in body}


async def message_ids(post: Post, body: Mapping[str, object]) -> tuple[int, ...]:
    """Return the prompt's ids as SGLang (0.5.12 and later) and vLLM make them."""
    try:
        return _ids(chat.read_object(await post("/tokenize", shaping(body))).get("tokens"))
    except Failure as failure:
        raise _explained(failure) from None


async def text_ids(post: Post, model: str, texts: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Return the ids of each text alone, without what a tokenizer puts before a prompt (SGLang)."""
    body = {"model": model, "prompt": list(texts), "add_special_tokens": False}
    try:
        listed = chat.read_object(await post("/tokenize", body)).get("tokens")
    except Failure as failure:
        raise _explained(failure) from None
    if not isinstance(listed, list) or len(listed) != len(texts):
        raise chat.InvalidReply(f"it has no tokens of {len(texts)} texts")
    return tuple(_ids(ids) for ids in listed)


async def prompt_ids(post: Post, body: Mapping[str, object]) -> tuple[int, ...]:
    """Return the prompt's ids, whichever of the two the server is."""
    try:
        rendered = chat.read_object(await post("/apply-template", shaping(body))).get("prompt")
    except Failure as failure:
        if failure.status not in _NOT_THERE - {400}:
            raise
        return await message_ids(post, body)
    # The prompt of a chat completion is tokenized with these two.
    asked: dict[str, object] = {"content": rendered, "add_special": True, "parse_special": True}
    return _ids(chat.read_object(await post("/tokenize", asked)).get("tokens"))


def _ids(listed: object) -> tuple[int, ...]:
    ids = tuple(chat.count(token) for token in listed) if isinstance(listed, list) else ()
    if not ids or None in ids:
        raise chat.InvalidReply("it has no list of token ids")
    return tuple(token for token in ids if token is not None)


def _explained(failure: Failure) -> Failure:
    if failure.status not in _NOT_THERE or failure.kind == "context":
        return failure
    said = f"Its server cannot tokenize a chat (SGLang can from 0.5.12 on): {failure.message}"
    return Failure("refused", said, status=failure.status)
