"""The events that repeat what an event said: an observation stands in the next prompt too, a draft in its request.

An event's own texts are what somebody said in it: arguments, answers, observations, reasons, errors. Words that
spectrace chose, ids, digests and names are none, and neither is a text of fewer than LEAST characters: it would be
found everywhere. A repetition holds one of them as a whole.
"""

import json
from collections.abc import Iterator

from spectrace.errors import StoreError
from spectrace.store.decoding import parse
from spectrace.store.matching import Needle, Resolve, any_of, leaves, resolved

LEAST = 8
"""Shorter texts are not followed."""

_WORDS = """
    authority category codec effect effect_by finish_reason fingerprint fingerprint_after fingerprint_before
    fingerprint_executed fingerprint_held format from_revision host id idempotency_key kind labels model name next
    operator options outcome package parameters position project prompts protocol provider provider_id python reason
    redactor requestor restore role run server source spectrace status tool tool_call_id tools_digest task_digest
    to_revision trial type unfit url usage user version versions who
"""
_NOT_SAID = frozenset(_WORDS.split())
"""Fields of bodies that hold no text of their own."""


def own_texts(type_: str, body: bytes, resolve: Resolve) -> list[str]:
    """Return an event's own texts, each in the forms in which JSON may be written again."""
    try:
        value = resolved(parse(body), resolve)
    except StoreError:
        return []
    said = {text for text in _said(type_, value) if len(text) >= LEAST}
    return sorted({form for text in said for form in _written(text)})


def repeats(needles: list[Needle], body: bytes, resolve: Resolve) -> bool:
    """Whether a body repeats one of these texts."""
    try:
        value = resolved(parse(body), resolve)
    except StoreError:
        return False
    return any(any_of(needles, text) for text in leaves(value))


def _said(type_: str, value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for name, item in value.items():
                said = name not in _NOT_SAID or (name == "reason" and type_ == "verdict.given")
                if said:
                    yield from _said(type_, item)
        case list():
            for item in value:
                yield from _said(type_, item)
        case _:
            return


def _written(text: str) -> Iterator[str]:
    """Yield a text; one that is JSON also without white space, and with the white space that Python writes."""
    yield text
    if text[:1] in {"{", "["}:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return
        yield json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        yield json.dumps(value, ensure_ascii=False)
