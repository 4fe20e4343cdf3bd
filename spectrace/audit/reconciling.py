"""The log beside the system's own records: what one of them says was done, and the other does not.

A record and a write are alike where the tool fits and the key, the arguments (as `repeats.key_of` has them) or each
argument that the record tells; and where the record's time lies within the window around the call, if it has one. What
is alike makes a group. As many records as the log says were done, or as many as may have been: then it does not matter
which is which, and all of the group is told. Another number, and nothing tells which record is whose: the group is
`ambiguous`, named and settled by nobody here. Nothing is guessed; but that there are more than the log can have, or
fewer than it must, is certain. A record of what was tried and failed is one too: of a call that failed, or did nothing.
"""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from spectrace.audit.lines import counted
from spectrace.audit.record_file import Record, RecordFile
from spectrace.audit.repeats import key_of
from spectrace.core.deeds import Deed

RESULTS = {
    "contradicted": "One says that it was done, the other that it failed or never ran.",
    "system_only": "The system has a record of it, and the log no write.",
    "log_only": "The log says that it was done, and the system has no record of it.",
    "ambiguous": "Several are alike, their number differs, and nothing tells which is whose.",
    "failed": "The log does not know, and the system has a record that it was tried and failed.",
    "found": "The log does not know, and the system has a record: ran (found later).",
    "not_found": "The log does not know, and the system has no record of it.",
    "matched": "Both say the same: that it was done, or that it was tried and failed.",
}
"""Result -> what it means, the gravest first."""
DIFFER = frozenset({"contradicted", "system_only", "log_only"})
NO_RECORD = "the system has no record of it"
_DONE, _OPEN = "ok", "indeterminate"
_NAMED = 6
"""Records that are named where many are alike."""


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What came of one write and one record; of either alone where the other has none, or it is not known which."""

    result: str
    deed: Deed | None
    record: Record | None
    detail: str
    differs: int = 0
    """Of ambiguous ones: how many more the system did than the log can have; below 0, how many fewer than it has."""

    @property
    def is_difference(self) -> bool:
        """Whether the log and the system certainly differ."""
        return self.result in DIFFER or self.differs != 0

    @property
    def at(self) -> int | None:
        """When it was asked, or drafted, or else done: by this it lies in a period, or outside."""
        return _asked(self.deed) if self.deed is not None else self.record.at if self.record is not None else None


@dataclass(frozen=True, slots=True)
class Write:
    """A write of the log, with the idempotency key that it carried."""

    deed: Deed
    key: str | None = None


@dataclass(slots=True)
class _Part:
    """Calls, and the records from `first` on and before `last` that may be theirs."""

    deeds: list[Deed]
    first: int
    last: int


def reconcile(file: RecordFile, writes: Sequence[Write], window_us: int) -> Iterator[Reconciled]:
    """Yield what came of each write and each record, group by group, in the order of the log; then what it lacks."""
    shapes = {one.tool: _shape(one) for one in file.records}
    records: dict[object, list[Record]] = {}
    for record in file.records:
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
    """Yield the parts of a group that time keeps apart, by their first call: what can belong together stays together.

    A record without a time may be any call's. Both sides are in order, so that each is gone through once.
    """
    left = sorted(deeds, key=_asked)
    rest = sorted(records, key=lambda one: (one.at is not None, one.at or 0))
    if not left or (rest and rest[0].at is None):
        yield left, rest
        return
    times = [one.at or 0 for one in rest]
    parts: list[_Part] = []
    reached: _Part | None = None
    for deed in left:
        low, high = _around(deed, window_us)
        first, last = bisect_left(times, low), bisect_right(times, high)
        if first == last:
            parts.append(_Part([deed], first, last))
        elif reached is not None and first < reached.last:
            reached.deeds.append(deed)
            reached.last = max(reached.last, last)
        else:
            parts.append(reached := _Part([deed], first, last))
    told = 0
    for part in parts:
        yield part.deeds, rest[part.first : part.last]
        if part.first < part.last:
            yield from (([], [one]) for one in rest[told : part.first])
            told = part.last
    yield from (([], [one]) for one in rest[told:])


def _asked(deed: Deed) -> int:
    return deed.requested_at if deed.requested_at is not None else deed.drafted_at or 0


def _around(deed: Deed, window_us: int) -> tuple[int, int]:
    begun = _asked(deed)
    ended = deed.completed_at if deed.completed_at is not None else begun
    return begun - window_us, max(begun, ended) + window_us


def _group(deeds: Sequence[Deed], records: Sequence[Record]) -> Iterator[Reconciled]:
    """Yield what came of calls and records that may be each other's; those of what failed come after what was done."""
    if not deeds:
        yield from (_alone("system_only", record) for record in records)
        return
    failed = [one for one in records if not one.done]
    yield from _with_failed(deeds, [one for one in records if one.done], failed) if failed else _done(deeds, records)


def _done(deeds: Sequence[Deed], records: Sequence[Record]) -> Iterator[Reconciled]:
    done, open_, other = _by_outcome(deeds)
    n = len(records)
    if not n:
        yield from (Reconciled("log_only", deed, None, NO_RECORD) for deed in done)
        yield from (Reconciled("not_found", deed, None, NO_RECORD) for deed in open_)
    elif n == len(done) and not open_:
        yield from _pairs(done, records)
    elif n == len(done) + len(open_):
        yield from _pairs([*done, *open_], records)
    elif n == len(deeds):
        yield from _pairs([*done, *open_, *other], records)
    else:
        yield from _ambiguous([*done, *open_] or other, records, _differs(done, open_, n))


def _with_failed(deeds: Sequence[Deed], records: Sequence[Record], failed: Sequence[Record]) -> Iterator[Reconciled]:
    """Yield what came of calls of which some record says that they were tried and failed."""
    done, open_, other = _by_outcome(deeds)
    errors, n = [deed for deed in other if deed.outcome == "error"], len(records)
    tried = [*open_, *errors]
    if n == len(done) and len(failed) == len(tried):
        yield from _pairs(done, records)
        yield from _pairs(tried, failed)
    elif n == len(done) + len(open_) and len(failed) == len(errors):
        yield from _pairs([*done, *open_], records)
        yield from _pairs(errors, failed)
    elif not n and (len(failed) == len(done) + len(tried) or len(done) + len(tried) == 1):
        mine = [*done, *tried]
        yield from _pairs(mine, failed[: len(mine)])
        yield from (_alone("system_only", record) for record in failed[len(mine) :])
    elif not n and not done and not tried and len(failed) == len(other):
        yield from _pairs(other, failed)
    elif n == len(done) and not tried:
        yield from _pairs(done, records)
        yield from (_alone("system_only", record) for record in failed)
    else:
        yield from _ambiguous([*done, *tried] or other, [*records, *failed], _differs(done, open_, n))


def _by_outcome(deeds: Sequence[Deed]) -> tuple[list[Deed], list[Deed], list[Deed]]:
    """Return those that the log says were done, those that it knows nothing of, and the others."""
    return (
        [deed for deed in deeds if deed.outcome == _DONE],
        [deed for deed in deeds if deed.outcome == _OPEN],
        [deed for deed in deeds if deed.outcome not in {_DONE, _OPEN}],
    )


def _differs(done: Sequence[Deed], open_: Sequence[Deed], records: int) -> int:
    """Return how many more were done by the system than the log allows, below 0 how many fewer, whichever is whose."""
    return max(0, records - len(done) - len(open_)) or min(0, records - len(done))


def _pairs(deeds: Sequence[Deed], records: Sequence[Record]) -> Iterator[Reconciled]:
    alike = "" if len(records) == 1 else f"; one of {len(records)} alike"
    for deed, record in zip(sorted(deeds, key=_asked), sorted(records, key=lambda one: one.at or 0), strict=True):
        said = record.where if record.done else f"{record.where}: tried and failed"
        if deed.outcome == _OPEN:
            found = f"ran (found later): {said}" if record.done else said
            yield Reconciled("found" if record.done else "failed", deed, record, f"{found}{alike}")
        elif deed.outcome == (_DONE if record.done else "error"):
            yield Reconciled("matched", deed, record, f"{said}{alike}")
        else:
            log = "it never ran" if deed.outcome == "never" else f"its outcome is {deed.outcome}"
            yield Reconciled("contradicted", deed, record, f"the log says that {log}: {said}{alike}")


def _ambiguous(deeds: Sequence[Deed], records: Sequence[Record], differs: int) -> Iterator[Reconciled]:
    named = ", ".join(one.where + ("" if one.done else ": tried and failed") for one in records[:_NAMED])
    more = f" and {len(records) - _NAMED:,} more" if len(records) > _NAMED else ""
    said = f"{counted(len(records), 'record')} ({named}{more}) for {counted(len(deeds), 'write')} alike"
    if differs > 0:
        said += f"; whichever is whose, the system did it {differs:,} times more than the log can have"
    elif differs < 0:
        said += f"; whichever is whose, the system lacks {-differs:,} that the log says were done"
    for deed in deeds:
        yield Reconciled("ambiguous", deed, None, said, differs)


def _alone(result: str, record: Record) -> Reconciled:
    failed = "" if record.done else ", where it was tried and failed"
    return Reconciled(result, None, record, f"{record.where}: {record.tool} is in no write of the log{failed}")
