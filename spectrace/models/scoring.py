"""Scored verdicts on the wire of SGLang's /generate (PROTOCOL section 6): ids in, log-probabilities out.

Pure. Behind the prompt each step gets its number, a forced *yes* and a newline, joined as ids and never as text, so
that no tokenizer can merge them; each answer is one token, or the request is refused. `logprob_start_len` stands one
before the first answer: a start of 0 would switch the prefix cache off. Counterpart of `sglang.py`, the transport.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spectrace.core.types import Scoring, Usage
from spectrace.models import chat
from spectrace.models.tokenizing import SHAPING

_SAMPLING = {
    "max_tokens": "max_new_tokens",
    "max_completion_tokens": "max_new_tokens",
    "min_tokens": "min_new_tokens",
    "seed": "sampling_seed",
} | {
    name: name
    for name in (
        "frequency_penalty",
        "ignore_eos",
        "logit_bias",
        "min_p",
        "presence_penalty",
        "repetition_penalty",
        "stop",
        "stop_regex",
        "stop_token_ids",
        "temperature",
        "top_k",
        "top_p",
    )
}
"""Parameters of a chat completion -> their names among /generate's sampling parameters."""
_ROUTING = ("cache_salt", "extra_key", "lora_path", "priority")
"""Parameters that mean the same to both; a prompt under another cache_salt shares no prefix."""
_LONGEST = 1024
"""Tokens of a decoded rejection where no limit is given: under a schema a small model may write spaces for ever.

One that takes them all ends with the finish reason `length`, and is not read."""
_NEWLINE = "\n"


class NotScorable(Exception):
    """The tokenizer, the parameters or the server cannot score; the text says why, `it` being the server."""


@dataclass(frozen=True, slots=True)
class Answers:
    """A prompt with a *yes* behind each step's number: its ids, and where the answers stand among them."""

    ids: tuple[int, ...]
    at: tuple[int, ...]
    yes: int
    no: int

    @property
    def start(self) -> int:
        """The first position whose log-probabilities are asked for; the first entry of a list is always null."""
        return self.at[0] - 1

    def rejected(self, step: int) -> tuple[int, ...]:
        """Return the ids up to that step's answer, and a *no* in its place."""
        return (*self.ids[: self.at[step - 1]], self.no)


def pieces(scoring: Scoring) -> list[str]:
    """Return the texts that are tokenized apart: the two answers, the newline, each step's number."""
    return [scoring.yes, scoring.no, _NEWLINE, *(f"{number}:" for number in range(1, scoring.steps + 1))]


def answers(prompt: Sequence[int], tokenized: Sequence[Sequence[int]], scoring: Scoring) -> Answers:
    """Lay the answers out behind the prompt. `tokenized` are the ids of `pieces`, in order."""
    (yes, no, newline), numbers = tokenized[:3], tokenized[3:]
    for text, found in ((scoring.yes, yes), (scoring.no, no)):
        if len(found) != 1:
            raise NotScorable(f"its tokenizer writes the answer {text!r} as {len(found)} tokens, not as one")
    if yes == no:
        raise NotScorable(f"its tokenizer writes {scoring.yes!r} and {scoring.no!r} as the same token")
    ids, at = list(prompt), list[int]()
    for number in numbers:
        ids += number
        at.append(len(ids))
        ids += [*yes, *newline]
    return Answers(tuple(ids), tuple(at), yes[0], no[0])


def score_body(laid: Answers, parameters: Mapping[str, object]) -> dict[str, object]:
    """Return the request that scores every step: one prefill, nothing decoded."""
    _sampling(parameters)  # what cannot be sent is said at the first review, not at the first rejection
    return {
        "input_ids": list(laid.ids),
        "sampling_params": {"max_new_tokens": 0, "temperature": 0},
        "return_logprob": True,
        "logprob_start_len": laid.start,
        "token_ids_logprob": [laid.yes, laid.no],
        **_routing(parameters),
    }


def reject_body(laid: Answers, step: int, schema: str | None, parameters: Mapping[str, object]) -> dict[str, object]:
    """Return the request that goes on after that step's *no*, decoding under the schema."""
    sampling: dict[str, object] = {"max_new_tokens": _LONGEST, **_sampling(parameters)}
    if schema is not None:
        sampling["json_schema"] = schema
    return {"input_ids": list(laid.rejected(step)), "sampling_params": sampling, **_routing(parameters)}


def _sampling(parameters: Mapping[str, object]) -> dict[str, object]:
    given = {name: value for name, value in parameters.items() if value is not None}
    unknown = sorted(set(given) - {*_SAMPLING, *SHAPING, *_ROUTING})
    if unknown:
        raise NotScorable(f"its /generate takes no parameter {', '.join(unknown)}")
    return {_SAMPLING[name]: value for name, value in given.items() if name in _SAMPLING}


def _routing(parameters: Mapping[str, object]) -> dict[str, object]:
    return {name: parameters[name] for name in _ROUTING if parameters.get(name) is not None}


@dataclass(frozen=True, slots=True)
class Generated:
    """An answer of /generate, read."""

    text: str
    meta: Mapping[str, object]

    @property
    def usage(self) -> Usage:
        """The token counts by the server's word."""
        names = ("prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens")
        return Usage(*(chat.count(self.meta.get(name)) for name in names))

    @property
    def finish(self) -> Mapping[str, object]:
        """Why it ended, in the server's members: type, and length or matched."""
        reason = self.meta.get("finish_reason")
        return reason if isinstance(reason, dict) else {}


def read_generated(text: str) -> Generated:
    """Read a body of /generate; fractions stay the text that the server wrote, because a log holds no floats."""
    try:
        body = json.loads(text, parse_float=str, parse_constant=_none)
    except (ValueError, RecursionError) as error:
        raise chat.InvalidReply("it is not JSON") from error
    meta = body.get("meta_info") if isinstance(body, dict) else None
    if not isinstance(body, dict) or not isinstance(meta, dict) or not isinstance(body.get("text"), str):
        raise chat.InvalidReply("it has no text with meta_info")
    return Generated(body["text"], meta)


def _none(_: str) -> None:
    """NaN and Infinity are no log-probabilities."""


def scores(meta: Mapping[str, object], laid: Answers) -> str:
    """Return the completion's content: {"yes": [...], "no": [...]}, a decimal string for each step."""
    entries = meta.get("input_token_ids_logprobs")
    if not isinstance(entries, list):
        raise NotScorable("its /generate gives no input_token_ids_logprobs (it may be older than that)")
    expected = len(laid.ids) - laid.start
    if len(entries) != expected:
        raise NotScorable(f"it gave log-probabilities of {len(entries)} positions, expected {expected}")
    found = [_pair(entries[at - laid.start], laid, step) for step, at in enumerate(laid.at, 1)]
    return json.dumps({"yes": [yes for yes, _ in found], "no": [no for _, no in found]})


def _pair(entry: object, laid: Answers, step: int) -> tuple[str, str]:
    listed = entry if isinstance(entry, list) else []
    given = [item[:2] for item in listed if isinstance(item, list) and len(item) > 1]
    yes, no = ([value for value, id_ in given if id_ == answer] for answer in (laid.yes, laid.no))
    if len(yes) != 1 or len(no) != 1 or not all(isinstance(one, str | int) for one in (*yes, *no)):
        raise NotScorable(f"it gave no single log-probability of both answers at step {step}")
    return str(yes[0]), str(no[0])
