"""Token ids of prompts and answers for the cache model, without looking at each prompt anew. Used by `costing`.

A prompt of step 1000 repeats those of the 999 before it: ids of all of them together would be quadratic.
"""

from spectrace.audit.spending import Asked
from spectrace.core.types import Message
from spectrace.cost.tokens import Tokenize, message_ids


class PromptIds:
    """Token ids of prompts and answers.

    A prompt is mostly the one before it and a little more: only what is new is looked at. What it returns holds until
    the next prompt of that place is asked for.
    """

    def __init__(self, tokenize: Tokenize | None = None) -> None:
        """Take the models' own tokenizer where there is one; else `cost.tokens` stands in."""
        self._own = tokenize
        self._last: dict[object, tuple[tuple[Message, ...], list[int], list[int]]] = {}
        """Place -> its last prompt, the ids of that, and where in them each message ends."""

    def of(self, place: object, call: Asked) -> tuple[list[int], list[int]]:
        """Return the ids of a call's prompt and of its answer."""
        if self._own is None:
            return self._extended(place, call.prompt), [] if call.answer is None else message_ids(call.answer)
        own = list(self._own(call.prompt))
        whole = [] if call.answer is None else list(self._own((*call.prompt, call.answer)))
        return own, whole[len(own) :] if whole[: len(own)] == own else []

    def _extended(self, place: object, prompt: tuple[Message, ...]) -> list[int]:
        """Return the ids of a prompt: those of the last one cut where the two part, and what follows."""
        last, ids, ends = self._last.get(place, ((), [], []))
        alike = _alike(last, prompt)
        del ids[ends[alike - 1] if alike else 0 :], ends[alike:]
        for message in prompt[alike:]:
            ids += message_ids(message)
            ends.append(len(ids))
        self._last[place] = prompt, ids, ends
        return ids


def _alike(one: tuple[Message, ...], other: tuple[Message, ...]) -> int:
    """Return how many messages two prompts begin with in common."""
    most = min(len(one), len(other))
    if one[:most] == other[:most]:  # most often; compared in C
        return most
    return next(place for place in range(most) if one[place] != other[place])
