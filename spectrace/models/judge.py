"""The Judge port: who answers reviews without being a chat model. A function of the user's, or people's labels.

What a judge says is recorded as an ordinary completion whose text is a verdict's JSON, so it is read by the same
reader, replayed and audited like any other; a replay needs neither the function nor the file.
"""

import json
from collections.abc import Sequence
from typing import Protocol

from spectrace.core.prompts import written
from spectrace.core.review_request import ReviewRequest
from spectrace.core.types import Action, Completion, ModelFacts

ACCEPT = '{"verdict": "accept"}'


class Judge(Protocol):
    """Somebody who answers reviews."""

    async def facts(self) -> ModelFacts:
        """Say who it is: provider, name, and among the server facts the digest of what it is made of."""
        ...

    def covers(self, request: ReviewRequest) -> bool:
        """Whether it has an answer; raise UsageError where what it has cannot be one."""
        ...

    def unused(self) -> Sequence[str]:
        """Say, a sentence each, what it holds that no request so far has asked for."""
        ...

    async def judge(self, request: ReviewRequest) -> Completion:
        """Answer, or raise ModelFailed."""
        ...

    async def close(self) -> None:
        """Release what it holds."""
        ...


def rejection(accepted: int, category: str | None, reason: str | None, replacement: Action | None = None) -> str:
    """Return the verdict that rejects the step after `accepted` ones, as the JSON text that a reviewer writes."""
    named = {"category": category or "other", "reason": (reason or "").strip() or "No reason was given."}
    said = json.dumps({"verdict": "reject", "first_wrong": accepted + 1, **named}, ensure_ascii=False)
    proposed = "null" if replacement is None else written(replacement)
    return f'{said[:-1]}, "replacement": {proposed}}}'
