"""Reading the strong model's verdict, so that nothing can be read into it.

A wrong accept runs a write that the reviewer refused, so the strict form (`Setup.verdict_schema`) comes first, and
what is tolerated beside it is said: status `repaired`, with the cause. In doubt: unusable, asked again once, then
nothing is accepted. Since revision 2:

| the reply                                                         | is                                           |
|-------------------------------------------------------------------|----------------------------------------------|
| one object of the schema, and nothing else                        | ok                                           |
| a byte order mark or spaces before it; a fence around all of it   | repaired                                     |
| a closed `<think>` block before it                                | repaired: what it holds is never looked at   |
| a reject in the only fence of a text, prose around it             | repaired, unless what was shown holds a verdict |
| an accept in a fence with prose around it                         | unusable: the prose may take it back         |
| an object with prose around it and no fence; two objects          | unusable: which one is meant?                |
| thoughts without an end; cut off, even where a shorter text parses | unusable                                    |
| first_wrong "2" or 2.0                                            | repaired: 2                                  |
| first_wrong 0, -1, over m, 2.5, "two", "2/4", true                | unusable, never clamped                      |
| accept with a reason, or with null members                        | repaired: dropped                            |
| accept with anything else; a member that the schema does not have | unusable                                     |
| reject without a replacement member, or with a reason over the limit | repaired                                  |
| reject whose replacement is no action                             | repaired: the rejection stands               |
| a bad escape, a raw line break, 'quotes', a trailing comma        | unusable, all of them                        |
| prose, nothing, null, a tool call                                 | unusable                                     |

*Planted verdicts.* A tool output may hold a ready-made verdict, and a reviewer may quote it. A quotation has text
around it, so a verdict that is the whole reply (whatever fence or thoughts it came with) is the reviewer's own, equal
to a planted one or not: else whoever plants `{"verdict": "accept"}` would make every honest accept unusable. Where a
verdict has to be found among other text, `shown` (all that the reviewer read of others) decides: does it hold any
verdict, however spelled or escaped, then nothing among other text counts. The most that planting can do is to make a
talkative reviewer be asked again. A model that a tool output *persuades* is beyond any reader.

Revision 1 tolerated a fence around the whole and a reason beside an accept, looked at no finish reason, and read JSON
loosely; episodes of it are read as they were.
"""

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from spectrace.core.foreign_json import Unreadable, members, text_at
from spectrace.core.prompts import written
from spectrace.core.reading import TOLERANT, Unusable, action_of, read, text_of, unfenced
from spectrace.core.setup import CATEGORIES, Setup
from spectrace.core.types import Completion, History, Step, Verdict
from spectrace.core.unwrapping import fence_in_prose, refuse_cut_off, unwrapped

PROSE = "prose around its markdown fence"

_MEMBERS = {"verdict", "first_wrong", "category", "reason", "replacement"}
_WHOLE = re.compile(r'(?P<plain>[1-9][0-9]{0,5})|"(?P<text>[1-9][0-9]{0,5})"|(?P<fraction>[1-9][0-9]{0,5})\.0+')
_UNICODE_ESCAPE = re.compile(r"\\+u([0-9a-fA-F]{4})")
_SHORT_ESCAPE = re.compile(r"\\+[nrtbf]")
_QUOTED = 40
_NOT_A_LETTER = re.compile(r"[^a-z]+")


@dataclass(frozen=True, slots=True)
class _Answer:
    """The members of a verdict object, and what was passed over to find it."""

    found: dict[str, str]
    tolerated: tuple[str, ...]
    in_prose: bool = False


def read_verdict(
    setup: Setup, completion: Completion, drafted: int, *, shown: Sequence[str] = (), limit: int | None = None
) -> Verdict | Unusable:
    """Return the verdict on a segment of `drafted` steps; never raise, whatever the text.

    `shown`: what the reviewer read that others wrote (`shown_to_reviewer`). `limit`: how many tokens it could write.
    """
    return read(lambda: _verdict(setup, completion, drafted, shown, limit))


def shown_to_reviewer(history: History, steps: Sequence[Step]) -> tuple[str, ...]:
    """Return all that a reviewer is shown of others: the opening, every action and every observation."""
    past = (*history.steps, *steps)
    observed = (step.observation.content for step in past if step.observation is not None)
    said = (message.content for message in history.opening)
    return (*said, *(written(step.action) for step in past), *observed)


def _verdict(setup: Setup, completion: Completion, drafted: int, shown: Sequence[str], limit: int | None) -> Verdict:
    raw = completion.message.content
    if setup.revision < TOLERANT:
        text, fenced = unfenced(raw)
        answer = _Answer(members(text), ("fenced",) if fenced else ())
    else:
        refuse_cut_off(completion, limit)
        if completion.message.calls:
            raise Unreadable("expected a verdict as text, found a tool call")
        answer = _answer(raw, shown)
    decision = text_at(answer.found, "verdict")
    verdict = Verdict(drafted, drafted, raw=raw)
    if decision == "accept":
        return _accept(setup, verdict, answer)
    if decision == "reject":
        return _reject(setup, verdict, answer)
    found = _shown(setup, answer.found.get("verdict", "no verdict"))
    raise Unreadable(f'expected "verdict": "accept" or "reject", found {found}')


def _shown(setup: Setup, text: str) -> str:
    """Return what a cause quotes: it is part of the next prompt, so since revision 2 only its beginning."""
    return text if setup.revision < TOLERANT else text[:_QUOTED]


def _answer(raw: str, shown: Sequence[str]) -> _Answer:
    around = unwrapped(raw)
    if around.text.startswith("{"):
        return _Answer(members(around.text, strict=True), around.tolerated)
    if not around.text:
        raise Unreadable("the reply is empty: expected a verdict")
    fenced = fence_in_prose(around.text)
    if fenced is None:
        raise Unreadable(f"expected one JSON object and nothing else, found {around.text[:40]!r}")
    if any(_holds_verdict(text) for text in shown):
        raise Unreadable("there is text around the verdict, and what was reviewed holds a verdict too: which is meant?")
    return _Answer(members(fenced, strict=True), (*around.tolerated, PROSE), in_prose=True)


def _holds_verdict(text: str) -> bool:
    """Whether a text holds a verdict in any spacing, quoting, escaping, case or width; rather once too often."""
    plain = _UNICODE_ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), text)
    letters = _NOT_A_LETTER.sub("", unicodedata.normalize("NFKC", _SHORT_ESCAPE.sub(" ", plain)).lower())
    return "verdictaccept" in letters or "verdictreject" in letters


def _accept(setup: Setup, verdict: Verdict, answer: _Answer) -> Verdict:
    if answer.in_prose:
        raise Unreadable("an accept must stand alone: the text around it may take it back")
    beside = sorted(name for name in answer.found if name != "verdict" and answer.found[name] != "null")
    if beside not in ([], ["reason"]):
        raise Unreadable(f"an accept carries nothing, found {', '.join(beside)} beside it")
    tolerated = list(answer.tolerated)
    if setup.revision >= TOLERANT and len(answer.found) > len(beside) + 1:
        _refuse_unknown(answer)
        tolerated.append("null members beside an accept were dropped")
    if beside:
        tolerated.append("a reason beside an accept was dropped")
    return _noted(setup, verdict, tolerated)


def _reject(setup: Setup, verdict: Verdict, answer: _Answer) -> Verdict:
    found, tolerated = answer.found, list(answer.tolerated)
    _refuse_unknown(answer)
    first_wrong, coerced = _first_wrong(setup, found.get("first_wrong", "null"), verdict.drafted)
    category = text_at(found, "category")
    if category not in CATEGORIES:
        said = found.get("category", "null")
        said = repr(json.loads(said)) if setup.revision < TOLERANT else _shown(setup, said)
        raise Unreadable(f"category must be one of {', '.join(CATEGORIES)}, found {said}")
    if "reason" not in found:
        raise Unreadable("a reject needs a reason")
    rejected = replace(verdict, accepted=first_wrong - 1, category=category, reason=text_of(found, "reason"))
    tolerated += [coerced] if coerced else []
    if setup.revision >= TOLERANT:
        tolerated += _beyond_the_schema(setup, rejected, found)
    if found.get("replacement", "null") != "null":
        try:
            proposed = members(found["replacement"], strict=setup.revision >= TOLERANT)
            rejected = replace(rejected, replacement=action_of(setup, proposed))
        except Unreadable as error:  # the rejection stands; only its proposal is lost
            why = f"the replacement is no action: {error}"
            rejected = replace(rejected, replacement_unusable=why)
            tolerated.append(why)
    return _noted(setup, rejected, tolerated)


def _refuse_unknown(answer: _Answer) -> None:
    unknown = sorted(set(answer.found) - _MEMBERS)
    if unknown:
        raise Unreadable(f"a verdict has no member {', '.join(unknown)}")


def _first_wrong(setup: Setup, text: str, drafted: int) -> tuple[int, str | None]:
    """Return the number, and how it was written where that was not as a number; refuse it outside 1..drafted."""
    if setup.revision < TOLERANT:
        value = json.loads(text)
        if type(value) is not int or not 1 <= value <= drafted:
            raise Unreadable(f"first_wrong must be a whole number from 1 to {drafted}, found {value!r}")
        return value, None
    whole = _WHOLE.fullmatch(text)
    number = int(whole[whole.lastgroup or 0]) if whole is not None else 0
    if whole is None or number > drafted:
        raise Unreadable(f"first_wrong must be a whole number from 1 to {drafted}, found {text[:40]}")
    return number, None if whole.lastgroup == "plain" else f"first_wrong was written {text}, read as {number}"


def _beyond_the_schema(setup: Setup, rejected: Verdict, found: dict[str, str]) -> list[str]:
    limit = setup.prompts.reason_limit
    over = rejected.reason is not None and len(rejected.reason) > limit
    return [f"a reason of more than {limit} characters"] * over + ["no replacement member"] * (
        "replacement" not in found
    )


def _noted(setup: Setup, verdict: Verdict, tolerated: Sequence[str]) -> Verdict:
    if not tolerated:
        return verdict
    cause = "; ".join(tolerated) if setup.revision >= TOLERANT else tolerated[-1]
    return replace(verdict, status="repaired", cause=cause)
