"""Projections: what an episode's events say, as rows for questions over many episodes.

They are written with the event that ends an episode, in its transaction, and can always be made anew from events
(`rebuild`): nothing is true because a projection says so. Text in them is for search and display, so what Postgres
cannot hold (NUL, lone surrogates) is replaced. Events that do not fold never stop an episode from ending: the summary
says what the problem was.
"""

import json
import re
from collections.abc import Iterable, Sequence
from typing import cast

import sqlalchemy as sa

from spectrace.core.deeds import Deed, changes_state, deeds
from spectrace.core.events import EpisodeStarted, Event, GenerateCompleted
from spectrace.core.fold import ERASED, Episode, FoldedRepair, FoldedSegment, fold
from spectrace.core.money import Spent, spent
from spectrace.core.types import Action, Call, Finish, Reply
from spectrace.errors import StoreError
from spectrace.store import tables

VERSION = 4
"""Raised when the same events would give other rows; `db rebuild` makes the older ones anew."""

AT_LEAST = "at least "
"""Before a cost that is known in part."""

Values = dict[str, object]

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_COUNTS = ("steps", "segments", "reviews", "writes", "rejections", "unusable", "repairs", "weak_calls", "strong_calls")
_SUMMARY_OF = tables.summaries.update().where(tables.summaries.c.number == sa.bindparam("of"))
_PROJECTED = (tables.segments, tables.actions, tables.search)


_ERASED: Values = {
    "projection": VERSION,
    **dict.fromkeys(("env", "task", "protocol"), ERASED),
    "trial": 0,
    "labels": "[]",
}


def begin(connection: sa.Connection, number: int, started: EpisodeStarted | None) -> None:
    """Write the summary of an episode that has just begun; None: what it began with is erased."""
    facets = _ERASED if started is None else _facets(started)
    connection.execute(tables.summaries.insert(), {"number": number, **facets, **dict.fromkeys(_COUNTS, 0)})


def begin_again(connection: sa.Connection, number: int, started: EpisodeStarted | None) -> None:
    """Take away what was written of an episode, and write its summary as of its beginning.

    Of one whose beginning is erased the parent stays: its copies are found by it.
    """
    column = tables.summaries.c
    parent = connection.scalar(sa.select(column.parent).where(column.number == number))
    for table in (*_PROJECTED, tables.summaries):
        connection.execute(table.delete().where(table.c.number == number))
    begin(connection, number, started)
    if started is None and parent is not None:
        connection.execute(_SUMMARY_OF, {"of": number, "parent": parent})


def spoil(connection: sa.Connection, number: int, problem: str) -> None:
    """Write in place of what the events say why they cannot be read."""
    connection.execute(_SUMMARY_OF, {"of": number, "projection": VERSION, "problem": storable(problem)})


def project(connection: sa.Connection, number: int, events: Sequence[Event], *, again: bool = False) -> None:
    """Write everything that the events say about one episode; `again` takes away what was written before."""
    if again:
        for table in _PROJECTED:
            connection.execute(table.delete().where(table.c.number == number))
    summary, rows = _told(events)
    connection.execute(_SUMMARY_OF, {"of": number, **summary})
    for table, values in rows:
        if values:
            connection.execute(table.insert(), [{"number": number, **_storable(item)} for item in values])


def expected(events: Sequence[Event], *, ended: bool) -> dict[str, list[Values]]:
    """Return the rows that an episode has, by table: of one that has not ended its summary only.

    Of one whose start was erased the summary's `parent` is not known.
    """
    started = events[0].body
    summary: Values = dict.fromkeys(column.name for column in tables.summaries.columns if column.name != "number")
    summary |= {**dict.fromkeys(_COUNTS, 0), **(_facets(started) if isinstance(started, EpisodeStarted) else _ERASED)}
    changes, rows = _told(events) if ended else ({}, [])
    found: dict[str, list[Values]] = {table.name: [] for table in _PROJECTED}
    found |= {table.name: [_storable(item) for item in values] for table, values in rows}
    return {**found, tables.summaries.name: [{**summary, **changes}]}


def _told(events: Sequence[Event]) -> tuple[Values, list[tuple[sa.Table, list[Values]]]]:
    """Return the summary's changes and the rows of each table; of events that do not fold, the problem alone."""
    try:
        episode, ledger = fold(events), deeds(events)
    except (ValueError, LookupError, StoreError) as error:
        return {"projection": VERSION, "problem": storable(f"{type(error).__name__}: {error}")}, []
    reasoning = {
        event.body.request: event.body.reasoning for event in events if isinstance(event.body, GenerateCompleted)
    }
    segments = [_segment(segment, reasoning, ledger) for segment in episode.segments]
    return {**_summary(episode), "cost_usd": cost_text(spent(events))}, [
        (tables.segments, segments),
        (tables.actions, [_deed(deed) for deed in ledger if changes_state(deed) and not deed.taken_over]),
        (tables.search, [{"text": _search_text(episode, segments)}]),
    ]


def cost_text(cost: Spent) -> str | None:
    """Return a cost as a summary holds it: dollars, `at least` dollars, or None where nothing is known."""
    return cost.usd or (None if cost.at_least_usd is None else f"{AT_LEAST}{cost.at_least_usd}")


def storable(text: str) -> str:
    """Return the text with what Postgres cannot hold replaced."""
    return _UNSTORABLE.sub("\ufffd", text)


def _storable(values: Values) -> Values:
    return {name: storable(value) if isinstance(value, str) else value for name, value in values.items()}


def _facets(started: EpisodeStarted) -> Values:
    models = {facts.role: f"{facts.provider}:{facts.name}" for facts in started.models}
    facets: Values = {
        "projection": VERSION,
        "env": started.environment.name,
        "task": started.task.id,
        "trial": started.trial,
        "protocol": started.protocol,
        "weak": models.get("weak"),
        "strong": models.get("strong"),
        "labels": labels_text(started.labels),
        "run": started.run,
        "parent": started.parent.episode if started.parent else None,
        "origin": started.origin.file if started.origin else None,
    }
    return _storable(facets)


def labels_text(labels: Iterable[tuple[str, str]]) -> str:
    """Return labels as JSON text in which each pair is found as `labels_text([pair])` without its outer brackets."""
    return json.dumps([list(pair) for pair in labels], ensure_ascii=True, separators=(",", ":"))


def _summary(episode: Episode) -> Values:
    ended = episode.ended
    end: Values = {
        "status": ended.outcome if ended else None,
        "end_reason": ended.reason if ended else None,
        "reward": ended.reward if ended else None,
        "problem": None,
    }
    counts = {name: getattr(episode.totals, name) for name in _COUNTS}
    # Those that exist: of a protocol without review no event closes one, and its totals count those that are closed.
    counts["segments"] = len(episode.segments)
    return {**_storable(end), "projection": VERSION, **counts}


def _segment(segment: FoldedSegment, reasoning: dict[int, str | None], ledger: Sequence[Deed]) -> Values:
    verdict, repair = segment.verdict, segment.repair
    rejecting = verdict is not None and verdict.decision != "accept" and verdict.accepted < len(segment.judged)
    rejected = segment.judged[verdict.accepted] if verdict is not None and rejecting else None
    return {
        "segment": segment.index,
        "closed": segment.reason,
        "steps": len(segment.steps),
        "verdict_seq": segment.verdict_seq,
        "review_seq": segment.review,
        "drafted": verdict.drafted if verdict else None,
        "accepted": verdict.accepted if verdict else None,
        "decision": verdict.decision if verdict else None,
        "status": verdict.status if verdict else None,
        "cause": verdict.cause if verdict else None,
        "category": verdict.category if verdict else None,
        "reason": verdict.reason if verdict and verdict.decision != "accept" else None,
        "rejected_tool": _tool(rejected.step.action) if rejected else None,
        "rejected_action": action_text(rejected.step.action) if rejected else None,
        "draft_reasoning": reasoning.get(rejected.request) if rejected and rejected.request is not None else None,
        "repair_kind": repair.kind if repair else None,
        "repair_action": action_text(repair.actions[-1]) if repair and repair.actions else None,
        "repair_outcome": _repair_outcome(segment.index, repair, ledger),
    }


def _repair_outcome(segment: int, repair: FoldedRepair | None, ledger: Sequence[Deed]) -> str | None:
    """Return the outcome of the repair's last action that was sent; `never` where none was."""
    if repair is None:
        return None
    outcomes = [
        deed.outcome for deed in ledger if deed.position.startswith(f"s{segment}.r") and deed.outcome != "never"
    ]
    return outcomes[-1] if outcomes else "never"


def action_text(action: Action) -> str:
    """Return an action on one line, for display and search."""
    match action:
        case Call(tool, arguments):
            return f"{tool} {arguments}"
        case Reply(text):
            return f"reply {text}"
        case Finish(text):
            return f"finish {text}"


def _tool(action: Action) -> str:
    match action:
        case Call(tool):
            return tool
        case Reply():
            return "reply"
        case Finish():
            return "finish"


def _deed(deed: Deed) -> Values:
    return {column.name: getattr(deed, column.name) for column in tables.actions.columns if column.name != "number"}


def _search_text(episode: Episode, segments: Sequence[Values]) -> str:
    """Return what people look for in many episodes: the task, what was rejected and why, how it ended.

    Not why something was accepted: nobody looks for that, and it was a tenth of a database.
    """
    ended = episode.ended
    parts = [episode.started.task.id, episode.started.task.request]
    parts += [cast("str", item[name]) for item in segments for name in ("reason", "rejected_action") if item[name]]
    parts += [ended.reason, ended.answer or ""] if ended else []
    return "\n".join(parts).casefold()
