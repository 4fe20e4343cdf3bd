"""Hard values: what models and tools say, and databases and JSON like to round, cut, replace or refuse."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import sqlalchemy as sa

from spectrace.core.digest import digest
from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    ActRequested,
    Body,
    EpisodeEnded,
    GenerateCompleted,
    GenerateRequested,
    VerdictGiven,
)
from spectrace.core.types import Call, Message, Observation, ToolCall
from spectrace.store import tables
from spectrace.store.conformance.check import Check, NotApplicable, Open, check, equal, kept, started, write
from spectrace.store.samples import sample_episode
from spectrace.store.sql import SqlEventStore

_Kind = TypeVar("_Kind", bound=Body)

NOT_A_NUMBER = (
    '{"a":[{"$float":"NaN"},1],"hi":{"$float":"Infinity"},"lo":{"$float":"-Infinity"},"v":{"$float":"NaN"}}',
    '{"score": NaN, "max": Infinity, "min": -Infinity, "n": 3}',
    "NaN",
)
HALVES = (
    "x\ud835y",
    '{"\ud835": "half a key"}',
    '{"title": "bold \\ud835 word", "ok": "\\ud83d\\ude00"}',
    "\ud83d\ude00",
    "😀",
    "\udfff" * 300,
)
"""Half pairs; the two halves of a pair in one text, which is another text than the character; escapes of both."""
NUL = ("a\0b", "a\\u0000b", '{"text": "speci\\u0000al", "k\\u0000ey": 1}', "\0" * 300)
NUMBERS = (
    '{"n": 9223372036854775808}',
    '{"n": 18446744073709551617}',
    '{"id": 107505301260286111, "above": 9007199254740993, "big": 123456789012345678901234567890}',
    '{"n": 1e22}',
    '{"n": 10000000000000000000000}',
    '{"n": -0.0}',
    '{"n": 0.30000000000000004}',
    '{"n": 1}',
    '{"n": 1.0}',
    '{"n": true}',
)
DEEP = ("[" * 5000 + "]" * 5000, '{"a":' * 5000 + "0" + "}" * 5000, "9" * 5000)
TWICE = ('{"a": 1, "a": 2}', '{"a": 2, "a": 1}', '{ "b":1,  "a":2 }', '{"a":2,"b":1}')
HOSTILE = (
    "[/bold]",
    "{p}/{t}[/{n}...]/read",
    "[b",
    "\x1b]8;;http://example.invalid\x07\x1b[2J",
    "<img src=x onerror=alert(1)>",
    "![x](http://example.invalid/x.png)",
    "=1+1",
    "\u202egnp.exe",
    "line\r\nline\rline\u2028line",
    "e\u0301 é",
)
PRINTED = (b"ok \xff end", b"ok \xfe end", b"\xc4\xe3\xba\xc3", b"page 1\0page 2\xff")
"""What programs print that is not UTF-8; the third is GBK."""


@check("H1")
def nan_and_infinities_are_kept_as_they_were_written(open_store: Open) -> str:
    """Tagged or bare: they are text, and the stored body around them is strict JSON."""
    return _kept(open_store, 101, NOT_A_NUMBER)


@check("H2")
def half_a_surrogate_pair_is_kept_wherever_it_stands(open_store: Open) -> str:
    """In an argument, an observation, a reason, a key, a prompt, a tool's name, a task."""
    return _kept(open_store, 102, HALVES)


@check("H3")
def a_nul_is_kept_and_is_not_its_escape(open_store: Open) -> str:
    """And takes nothing else of its batch with it."""
    sample = sample_episode(103)
    kept(open_store, [*sample[:11], *(body for text in NUL[:2] for body in _saying(sample, text))])
    return _kept(open_store, 103, NUL)


@check("H3")
def a_search_finds_text_with_a_nul_and_its_escape(open_store: Open) -> None:
    """The text for searching is made fit for a database; the evidence is not."""
    store = open_store()
    if not isinstance(store, SqlEventStore):
        raise NotApplicable("the store keeps no text for searching")
    for request in NUL[:2]:
        bodies = sample_episode(104, segments=1)
        first = replace(started(bodies), task=replace(started(bodies).task, request=request))
        episode = write(store, [first, *bodies[1:]])
        query = sa.select(tables.search.c.number).where(
            tables.search.c.number == store.log.number(episode), tables.search.c.text.like("%a%b%")
        )
        with store.database.reading() as connection:
            equal(f"episodes of task {request!r} found by the text", len(connection.execute(query).all()), 1)


@check("H4")
def numbers_keep_every_digit_and_their_spelling(open_store: Open) -> str:
    """Beyond 2^53 and 2^63, minus zero, exponents: no reader of ours may round what a tool is called with."""
    return _kept(open_store, 105, NUMBERS)


@check("H4")
def calls_with_one_as_integer_as_float_and_as_true_are_three_calls(open_store: Open) -> None:
    """Three otherwise equal calls have three bodies."""
    asked = _first(sample_episode(106), ActRequested)
    calls = [replace(asked, action=Call("look", arguments)) for arguments in NUMBERS[-3:]]
    stored = kept(open_store, [*sample_episode(106)[:1], *calls])
    equal("different bodies of three calls", len({event.body for event in stored[1:]}), 3)


@check("H5")
def deep_nesting_and_five_thousand_digits_are_kept(open_store: Open) -> str:
    """They are text: nothing parses them on their way in or out."""
    return _kept(open_store, 107, DEEP)


@check("H6")
def bytes_that_are_no_text_are_kept_as_those_bytes(open_store: Open) -> str:
    """Found under the digest of the bytes themselves, so that anybody's tool can look for them."""
    texts = [data.decode("utf-8", "surrogateescape") for data in PRINTED]
    _kept(open_store, 108, texts)
    store = open_store()
    found = [store.blob(digest(data)) for data in PRINTED]
    equal("blobs of the printed bytes", found, list(PRINTED))
    return f"{len(PRINTED)} outputs"


@check("H7")
def ids_of_providers_are_kept_empty_or_used_twice(open_store: Open) -> None:
    """Two calls `call_1`, a call without an id, a second answer to one: as they came, in their order."""
    bodies = sample_episode(109)
    calls = tuple(ToolCall(id_, "look", f'{{"n": {number}}}') for number, id_ in enumerate(("call_1", "call_1", "")))
    answers = tuple(
        Message("tool", text, (), id_) for text, id_ in (("A", "call_1"), ("B", "call_1"), ("C", ""), ("D", ""))
    )
    asked = replace(_first(bodies, GenerateRequested), messages=(Message("assistant", "", calls), *answers))
    answered = replace(_first(bodies, GenerateCompleted), message=Message("assistant", "", calls))
    kept(open_store, [bodies[0], asked, answered, asked])


@check("H10")
def key_order_white_space_and_doubled_keys_of_foreign_json_are_kept(open_store: Open) -> str:
    """It is recorded as its text, not as what a parser makes of it."""
    return _kept(open_store, 110, TWICE)


@check("H24")
def text_that_attacks_whoever_shows_it_is_kept_to_the_letter(open_store: Open) -> str:
    """Markup, terminal sequences, formulas, text that runs backwards: made harmless when shown, never when stored."""
    return _kept(open_store, 124, HOSTILE)


@check("H25")
def an_unusable_verdict_keeps_its_raw_text_and_its_own_class(open_store: Open) -> None:
    """Neither an accept nor a reject, and nothing accepted."""
    bodies = sample_episode(125)
    given = _first(bodies, VerdictGiven)
    raw = '{"verdict": "reject", "first_wrong": 2.5}{"verdict": "accept"}\ud835'
    unusable = replace(
        given,
        outcome="unusable",
        accepted=0,
        category=None,
        reason=None,
        replacement=None,
        status="unusable",
        cause="text follows the JSON object",
        raw=raw,
    )
    kept(open_store, [bodies[0], unusable])


def _kept(open_store: Open, seed: int, texts: Sequence[str]) -> str:
    """Insist that each text is kept wherever an event may hold it, and that no two of them end as one."""
    sample = sample_episode(seed, segments=1)
    first, end = started(sample), _first(sample, EpisodeEnded)
    task = replace(first.task, id=texts[0], request=texts[0])
    labels = tuple((text, text) for text in texts)
    first = replace(first, task=task, instructions=texts[-1], operator=texts[-1], labels=labels)
    said = [body for text in texts for body in _saying(sample, text)]
    stored = kept(open_store, [first, *said, replace(end, answer=texts[0], reason=texts[-1])])
    answers = {event.body for event in stored if json.loads(event.header)[3] == ActCompleted.TYPE}
    equal("different stored answers of different texts", len(answers), len(texts))
    return f"{len(texts)} texts"


def _saying(sample: Sequence[Body], text: str) -> list[Body]:
    """Return an event of each kind that may hold somebody's words, holding these."""
    call = ToolCall(text, text, text)
    asked, given = _first(sample, GenerateRequested), _first(sample, VerdictGiven)
    return [
        replace(asked, messages=(Message("tool", text, (call,), text), *asked.messages), position=text),
        replace(
            _first(sample, GenerateCompleted), message=Message("assistant", text, (call,)), reasoning=text, model=text
        ),
        replace(_first(sample, ActRequested), action=Call(text, text), tool=text),
        replace(_first(sample, ActCompleted), observation=Observation(text), tool=text),
        replace(_first(sample, ActFailed), error=text, kind=text),
        replace(given, reason=text, raw=text, cause=text, category=text),
    ]


def _first(bodies: Sequence[Body], kind: type[_Kind]) -> _Kind:
    return next(body for body in bodies if isinstance(body, kind))


CHECKS: tuple[Check, ...] = (
    nan_and_infinities_are_kept_as_they_were_written,
    half_a_surrogate_pair_is_kept_wherever_it_stands,
    a_nul_is_kept_and_is_not_its_escape,
    a_search_finds_text_with_a_nul_and_its_escape,
    numbers_keep_every_digit_and_their_spelling,
    calls_with_one_as_integer_as_float_and_as_true_are_three_calls,
    deep_nesting_and_five_thousand_digits_are_kept,
    bytes_that_are_no_text_are_kept_as_those_bytes,
    ids_of_providers_are_kept_empty_or_used_twice,
    key_order_white_space_and_doubled_keys_of_foreign_json_are_kept,
    text_that_attacks_whoever_shows_it_is_kept_to_the_letter,
    an_unusable_verdict_keeps_its_raw_text_and_its_own_class,
)
