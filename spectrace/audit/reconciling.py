"""The log beside the system's own records: what one of them says was done, and the other does not.

A record and a write are alike where the tool fits and the key, the arguments (as `repeats.key_of` has them) or each
argument that the record tells; and where the record's time lies within the window around the call, if it has one. What
is alike makes a group. As many records as the log says were done, or as many as may have been: then it does not matter
which is which, and all of the group is told. Another number, and nothing tells which record is whose: the group is
`ambiguous`, named and settled by nobody here. Nothing is guessed.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from spectrace.audit.lines import counted
from spectrace.audit.record_file import Record, RecordFile
from spectrace.audit.repeats import key_of
from spectrace.core.deeds import Deed

RESULTS = {
    "contradicted": "The log says that it failed or never ran, and the system has a record of it.",
    "system_only": "The system has a record of it, and the log no write.",
    "log_only": "The log says that it was done, and the system has no record of it.",
    "ambiguous": "Several are alike, their number differs, and nothing tells which is whose.",
    "found": "The log does not know, and the system has a record: ran (found later).",
    "not_found": "The log does not know, and the system has no record of it.",
    "matched": "Both say that it was done.",
}
"""Result -> what it means, the gravest first."""
DIFFER = frozenset({"contradicted", "system_only", "log_only"})
_DONE, _OPEN = "ok", "indeterminate"


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What came of one write and one record; of either alone where the other has none, or it is not known which."""

    result: str
    deed: Deed | None
    record: Record | None
    detail: str


@dataclass(frozen=True, slots=True)
class Write:
    """A write of the log, with the idempotency key that it carried."""

    deed: Deed
    key: str | None = None


def reconcile(file: RecordFile, writes: Sequence[Write], window_us: int) -> Iterator[Reconciled]:
    """Yield what came of each write and each record, group by group, in the order of the log; then what it lacks."""
    shapes = {one.tool: _shape(one) for one in file.records}
    records: dict[object, list[Record]] = {}
    for record in file.records:
        if record.done:
            records.setdefault(_key_of_record(record), []).append(record)
    groups: dict[object, list[Write]] = {}
    for write in writes:
        groups.setdefault(_key_of_write(write, shapes.get(str(write.deed.tool))), []).append(write)
    for key, some in groups.items():
        for deeds, told in _apart([one.deed for one in some], records.pop(key, []), window_us):
            yield from _group(deeds, told)
    for rest in records.values():
        for record in rest:
            yield _alone("system_only", record)


def _shape(record: Record) -> tuple[bool, bool, tuple[str, ...]]:
    """Return what the records of a tool tell: a key, arguments, single ones."""
    return record.key is not None, record.arguments is not None, tuple(name for name, _ in record.given)


def _key_of_record(record: Record) -> object:
    if record.key is not None:
        return record.tool, record.key
    return record.tool, record.arguments, tuple(_values(text) for _, text in record.given)


def _key_of_write(write: Write, shape: tuple[bool, bool, tuple[str, ...]] | None) -> object:
    deed = write.deed
    if shape is None:
        return deed.tool, None, key_of(deed.arguments)
    by_key, whole, names = shape
    if by_key:
        return deed.tool, write.key
    given = _given(deed.arguments)
    return deed.tool, key_of(deed.arguments) if whole else None, tuple(given.get(name) for name in names)


def _given(arguments: str) -> Mapping[str, str]:
    try:
        found = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return {}
    return {name: _canonical(value) for name, value in found.items()} if isinstance(found, dict) else {}


def _canonical(value: object) -> str:
    return _values(value if isinstance(value, str) else json.dumps(value))


def _values(text: str) -> str:
    """Return a text by what it means as JSON, where it is some: a cell holds no type, so `150` and "150" are one."""
    return key_of(text.strip()) if text.strip() else text


def _apart(
    deeds: Sequence[Deed], records: Sequence[Record], window_us: int
) -> Iterator[tuple[list[Deed], list[Record]]]:
    """Yield the parts of a group that time keeps apart: what can belong together stays together."""
    left = sorted(deeds, key=_asked)
    rest = sorted(records, key=lambda one: (one.at is not None, one.at or 0))
    while left:
        part, told, grew = [left.pop(0)], list[Record](), True
        while grew:
            near = [one for one in rest if any(_near(deed, one, window_us) for deed in part)]
            more = [deed for deed in left if any(_near(deed, one, window_us) for one in near)]
            told += near
            part += more
            rest = [one for one in rest if one not in near]
            left = [deed for deed in left if deed not in more]
            grew = bool(more)
        yield part, told
    if rest:
        yield [], rest


def _asked(deed: Deed) -> int:
    return deed.requested_at if deed.requested_at is not None else deed.drafted_at or 0


def _near(deed: Deed, record: Record, window_us: int) -> bool:
    if record.at is None:
        return True
    begun = _asked(deed)
    ended = deed.completed_at if deed.completed_at is not None else begun
    return begun - window_us <= record.at <= max(begun, ended) + window_us


def _group(deeds: Sequence[Deed], records: Sequence[Record]) -> Iterator[Reconciled]:
    done = [deed for deed in deeds if deed.outcome == _DONE]
    open_ = [deed for deed in deeds if deed.outcome == _OPEN]
    other = [deed for deed in deeds if deed.outcome not in {_DONE, _OPEN}]
    n = len(records)
    if not n:
        yield from (Reconciled("log_only", deed, None, "the system has no record of it") for deed in done)
        yield from (Reconciled("not_found", deed, None, "the system has no record of it") for deed in open_)
    elif n == len(done) and not open_:
        yield from _pairs(done, records)
    elif n == len(done) + len(open_):
        yield from _pairs([*done, *open_], records)
    elif n == len(deeds):
        yield from _pairs([*done, *open_, *other], records)
    elif not deeds:
        yield from (_alone("system_only", record) for record in records)
    else:
        yield from _ambiguous([*done, *open_] or other, records)


def _pairs(deeds: Sequence[Deed], records: Sequence[Record]) -> Iterator[Reconciled]:
    alike = "" if len(records) == 1 else f"; one of {len(records)} alike"
    for deed, record in zip(sorted(deeds, key=_asked), sorted(records, key=lambda one: one.at or 0), strict=True):
        if deed.outcome == _DONE:
            yield Reconciled("matched", deed, record, f"{record.where}{alike}")
        elif deed.outcome == _OPEN:
            yield Reconciled("found", deed, record, f"ran (found later): {record.where}{alike}")
        else:
            said = "it never ran" if deed.outcome == "never" else f"its outcome is {deed.outcome}"
            yield Reconciled("contradicted", deed, record, f"the log says that {said}: {record.where}{alike}")


def _ambiguous(deeds: Sequence[Deed], records: Sequence[Record]) -> Iterator[Reconciled]:
    writes = counted(len(deeds), "write")
    said = f"{counted(len(records), 'record')} ({', '.join(one.where for one in records)}) for {writes} alike"
    for deed in deeds:
        yield Reconciled("ambiguous", deed, None, said)


def _alone(result: str, record: Record) -> Reconciled:
    return Reconciled(result, None, record, f"{record.where}: {record.tool} is in no write of the log")
