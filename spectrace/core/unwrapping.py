"""What stands around an answer in a model's reply: a cut-off end, a byte order mark, thoughts, a markdown fence, prose.

Nothing in here looks at what the answer says. `unwrapped` takes off only what cannot change the meaning, and says what
it took off; `fence_in_prose` finds the one fence in a text, for a reader that has reasons of its own to trust it.
"""

import json
import re
from dataclasses import dataclass

from spectrace.core.foreign_json import Unreadable
from spectrace.core.types import Completion

ENDED = frozenset(
    {
        "complete",
        "end_turn",
        "eos",
        "eos_token",
        "function_call",
        "stop",
        "stop_sequence",
        "tool_calls",
        "tool_use",
    }
)
"""Finish reasons that say that the model ended by itself, in any case of letters. Every other one does not: `length`,
`refusal`, `content_filter`, `error`, `pause_turn`, and whatever a server may come to say."""
_LIMITS = ("max_completion_tokens", "max_tokens", "max_new_tokens", "n_predict")

BYTE_ORDER_MARK = "a byte order mark before it"
THOUGHTS = "a thinking block before it"
FENCE = "a markdown fence around it"

_SPACE = " \t\r\n"
_THOUGHTS = re.compile(r"<(think|thinking)>")
_FENCE = re.compile(r"```[A-Za-z]*[ \t\r\n]*(?P<inside>\{.*\})[ \t\r\n]*```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """A reply's text without what stood around it, and what that was."""

    text: str
    tolerated: tuple[str, ...] = ()


def token_limit(parameters: str) -> int | None:
    """Return how many tokens a reply may have by a model's sampling parameters (JSON text); None when nobody said."""
    values = json.loads(parameters)
    limits = [values.get(name) for name in _LIMITS]
    return next((limit for limit in limits if type(limit) is int and limit > 0), None)


def refuse_cut_off(completion: Completion, limit: int | None) -> None:
    """Raise Unreadable for a reply that was not written to its end, even where what came parses.

    A server's word `stop` or `tool_calls` beside a reply of exactly the tokens that it may have is not believed.
    """
    reason = completion.finish_reason
    if reason and reason.lower() not in ENDED:
        raise Unreadable(f"the reply was cut off (finish reason {reason})")
    written = completion.usage.output
    if limit is not None and written is not None and written >= limit:
        raise Unreadable(f"the reply was cut off (it took all of the {limit} tokens that it may have)")


def unwrapped(text: str) -> Unwrapped:
    """Take off a byte order mark, a thinking block that begins the text, and a fence around all of the rest."""
    begun = text.lstrip("\ufeff" + _SPACE)
    tolerated = [BYTE_ORDER_MARK] if "\ufeff" in text[: len(text) - len(begun)] else []
    kept, thoughts = without_thoughts(begun)
    tolerated += [THOUGHTS] if thoughts else []
    kept = kept.strip(_SPACE)
    fence = _FENCE.fullmatch(kept)
    if fence is not None and "```" not in fence["inside"]:
        return Unwrapped(fence["inside"], (*tolerated, FENCE))
    return Unwrapped(kept, tuple(tolerated))


def without_thoughts(text: str) -> tuple[str, bool]:
    """Return the text after a thinking block that begins it, and whether there was one; refuse one without an end.

    The block ends at its first closing tag. One that holds a second opening tag quotes something: nobody can say
    which end is whose.
    """
    opened = _THOUGHTS.match(text)
    if opened is None:
        return text, False
    thoughts, closed, rest = text[opened.end() :].partition(f"</{opened[1]}>")
    if not closed:
        raise Unreadable("the thoughts have no end, and no answer follows them")
    if _THOUGHTS.search(thoughts):
        raise Unreadable("the thoughts hold another opening tag, so where they end is not certain")
    return rest, True


def fence_in_prose(text: str) -> str | None:
    """Return what the only fence of a text holds, when nothing outside it looks like JSON or code; else None."""
    if text.count("```") != 2:  # noqa: PLR2004 - one opens, one closes
        return None
    fence = _FENCE.search(text)
    if fence is None:
        return None
    outside = text[: fence.start()] + text[fence.end() :]
    return None if any(mark in outside for mark in "{}`<") else fence["inside"]
