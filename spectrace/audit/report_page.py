"""A report as one HTML file: no script, nothing that loads, recorded text as literal text.

Every value that a template prints passes through `_literal`, whatever it is: control characters and whatever else hides
or turns text around become visible, then HTML is escaped. No template marks anything as safe. Nothing that was recorded
becomes a link or an attribute's name. Tables are written row by row.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import BinaryIO

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from spectrace.audit import report_words as words
from spectrace.audit.integrity import CONSISTENT, INVALID
from spectrace.audit.proving import VALID
from spectrace.audit.report import Report
from spectrace.audit.report_chart import by_time, shares
from spectrace.audit.report_figures import OUTCOMES, spans
from spectrace.audit.report_numbers import most_first, numbers, utc
from spectrace.audit.rules import RULES, VIOLATION
from spectrace.audit.unknowns import KINDS as UNKNOWNS
from spectrace.audit.unknowns import LOG
from spectrace.audit.unreviewed import KINDS as UNREVIEWED
from spectrace.audit.visible import one_line, visible
from spectrace.core.digest import text_digest

HEAD, MOST = 160, 4_000
"""Characters of a long text that are shown at once, and when it is unfolded."""
_NOTHING = "\N{EN DASH}"
_WELL = frozenset({CONSISTENT, VALID})
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Folded:
    """A text: its beginning; and where that is not all of it, its length, its digest, and more of it."""

    head: str
    length: int
    digest: str | None = None
    """None where the head is all."""
    more: str = ""
    left: int = 0
    """Characters that are not even in `more`."""


def fold(text: str) -> Folded:
    """Return a text as a table shows it."""
    if len(text) <= HEAD and "\n" not in text:
        return Folded(text, len(text))
    head = text.split("\n", 1)[0][:HEAD]
    return Folded(head, len(text), text_digest(text), text[:MOST], max(0, len(text) - MOST))


def write(report: Report, file: BinaryIO) -> str:
    """Write the page; return its SHA-256 in hex."""
    digest = hashlib.sha256()
    for part in _parts(report):
        file.write(part)
        digest.update(part)
    return digest.hexdigest()


def _parts(report: Report) -> Iterator[bytes]:
    waiting, size = list[str](), 0
    for text in _environment().get_template("report.html").generate(**_context(report)):
        waiting.append(text)
        size += len(text)
        if size > _CHUNK:
            yield "".join(waiting).encode()
            waiting, size = [], 0
    yield "".join(waiting).encode()


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("spectrace.audit", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_literal,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(block=_block, fold=fold, n=_grouped, utc=utc, most_first=most_first)
    return made


def _literal(value: object) -> object:
    """Return what may be printed: of a text what can be seen, on one line."""
    match value:
        case Markup():
            return value
        case str():
            return value if value.isprintable() else one_line(value)  # as `visible` does: a hundred times faster
        case None:
            return _NOTHING
        case _:
            return value


def _block(text: str) -> Markup:
    """Return a text of several lines, for a <pre>: nothing hidden, all escaped."""
    return escape(visible(text, lines=True))


def _grouped(number: int) -> str:
    return f"{number:,}"


def _context(report: Report) -> dict[str, object]:
    found = numbers(report)
    unit, all_spans = spans(report.figures.by_day)
    rules = {**RULES, **{rule.id: rule for rule in report.wanted.rules}}
    return {
        "report": report,
        "numbers": found,
        "numbers_json": json.dumps(found, indent=1),
        "rows": report.wanted.rows,
        "sections": tuple(_sections(report)),
        "rules": rules,
        "sentences": {name: rule.sentence for name, rule in rules.items()},
        "violations": sorted(report.violations, key=lambda one: one.severity != VIOLATION),
        "unknowns": sorted(report.unknowns, key=lambda one: _place(UNKNOWNS, one.kind)),
        "unreviewed": sorted(report.unreviewed, key=lambda one: _place(UNREVIEWED, one.kind)),
        "verified": sorted(report.verified, key=lambda one: one[0].result in _WELL),
        "leaves": _leaves(report),
        "unit": unit,
        "spans": all_spans,
        "outcomes": list(dict.fromkeys((*OUTCOMES, *report.figures.by_outcome))),
        "charts": {
            "time": by_time(unit, all_spans),
            "authority": shares(
                "authority", "What was sent, by its authority", most_first(report.figures.by_authority)
            ),
        },
        "log_itself": LOG,
        "unknown_words": UNKNOWNS,
        "unknown_means": words.UNKNOWN_MEANS,
        "unreviewed_words": UNREVIEWED,
        "outcome_words": words.OUTCOME,
        "authority_words": words.AUTHORITY,
        "effect_by": words.EFFECT_BY,
        "result_words": words.RESULT,
    }


def _leaves(report: Report) -> str:
    """Return the leaves of the checkpoint as lines, as the file beside it has them; nothing where they are too many."""
    held = () if report.witness is None else report.witness.leaves
    most = len(held) if report.wanted.rows is None else report.wanted.rows
    return "".join(f"{leaf.decode()}\n" for leaf in held) if len(held) <= most else ""


def _place(kinds: Iterable[str], kind: str) -> int:
    """Return where a kind stands among all; one that is not among them stands behind."""
    order = list(kinds)
    return order.index(kind) if kind in order else len(order)


@dataclass(frozen=True, slots=True)
class Section:
    """A line of the contents; `look` is empty, `look` (worth a look) or `bad`."""

    id: str
    title: str
    number: str
    look: str = ""


def _sections(report: Report) -> Iterator[Section]:
    broken = sum(one.severity == VIOLATION for one in report.violations)
    open_ = sum(not one.settled for one in report.open)
    invalid = sum(one.result == INVALID for one, _ in report.verified)
    unread, unknown = len(report.lost), len(report.unknowns)
    if unread:
        yield Section("unknown", "Cannot be read", _grouped(unread), "bad")
    yield Section("unknown", "Unknown", _grouped(unknown), "look" if unknown else "")
    yield Section("violations", "Violations", _grouped(broken), "bad" if broken else "")
    warnings = len(report.violations) - broken
    yield Section("violations", "Warnings", _grouped(warnings), "look" if warnings else "")
    yield Section("ran", "Actions that ran", _grouped(report.ran.total))
    yield Section("never", "Drafted, never ran", _grouped(report.never.total))
    yield Section("unreviewed", "Unreviewed", _grouped(len(report.unreviewed)))
    yield Section("open", "Indeterminate", _grouped(open_), "look" if open_ else "")
    yield Section("authority", "Who gave authority", "")
    yield Section("records", "Administrative records", _grouped(len(report.records)))
    yield Section("proof", "Invalid", _grouped(invalid), "bad" if invalid else "")
    if report.witness is not None:
        valid = sum(one.result == VALID for one, _ in report.verified)
        yield Section("proof", "Proved by the checkpoint", _grouped(valid), "" if valid else "bad")
    yield Section("words", "Words", "")
