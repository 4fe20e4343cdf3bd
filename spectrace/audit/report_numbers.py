"""Every number of a report as JSON values: `--json` writes them, and the page holds the very same."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime

from spectrace.audit.report import Report
from spectrace.audit.report_figures import Figures, spans
from spectrace.audit.report_proof import Witness
from spectrace.audit.rules import VIOLATION, WARNING

_MICRO = 1_000_000


def numbers(report: Report) -> dict[str, object]:
    """Return what a report counts, of what, made by whom and when."""
    low, high = report.wanted.between
    return {
        "title": report.wanted.title,
        "log": asdict(report.log),
        "selection": report.wanted.selection,
        "since": utc(low),
        "until": utc(high),
        "made_by": report.made_by,
        "read_from": utc(report.begun_at),
        "read_until": utc(report.read_until),
        "spectrace": report.spectrace,
        "episodes": {"total": len(report.episodes), "by_status": most_first(report.statuses)},
        "unread": len(report.lost),
        "unknowns": {
            "total": len(report.unknowns),
            "by_kind": most_first(Counter(one.kind for one in report.unknowns)),
        },
        "violations": _violations(report),
        "actions": _actions(report.figures),
        "unreviewed": {
            "total": len(report.unreviewed),
            "by_kind": most_first(Counter(one.kind for one in report.unreviewed)),
        },
        "open": {
            "indeterminate": sum(not one.settled for one in report.open),
            "settled": sum(one.settled for one in report.open),
        },
        "records": {
            "total": len(report.records),
            "by_kind": most_first(Counter(one.kind for one in report.records)),
        },
        "verify": {
            "total": len(report.verified),
            "by_result": most_first(Counter(one.result for one, _ in report.verified)),
        },
        "checkpoint": _checkpoint(report.witness),
        "rows": {
            "most": report.wanted.rows,
            "ran_left_out": report.ran.left_out,
            "never_left_out": report.never.left_out,
        },
    }


def _checkpoint(witness: Witness | None) -> dict[str, object] | None:
    """Return what was held against the log; its leaves are in its own file."""
    if witness is None:
        return None
    said = {name: value for name, value in asdict(witness).items() if name not in {"leaves", "without_leaves"}}
    return {**said, "at": utc(witness.at), "leaves": len(witness.leaves)}


def _violations(report: Report) -> dict[str, object]:
    by_severity = Counter(one.severity for one in report.violations)
    tally = report.tally
    return {
        "violations": by_severity[VIOLATION],
        "warnings": by_severity[WARNING],
        "by_rule": most_first(Counter(one.rule for one in report.violations)),
        "actions": tally.acts,
        "beyond_judgement": tally.beyond,
        "unjudged": {rule: count for rule, count in tally.unjudged.items() if count},
        "erased_events": tally.erased,
        "rules_failed": len(tally.failed),
        "episodes_unasked": len(report.unasked),
    }


def _actions(figures: Figures) -> dict[str, object]:
    unit, all_spans = spans(figures.by_day)
    return {
        "total": figures.total,
        "ran": figures.ran,
        "never": figures.total - figures.ran,
        "held": figures.held,
        "erased": figures.erased,
        "simulated": figures.simulated,
        "by_outcome": most_first(figures.by_outcome),
        "by_authority": most_first(figures.by_authority),
        "by_effect": most_first(figures.by_effect),
        "by_kind": most_first(figures.by_kind),
        "state_changed": most_first(figures.changed),
        "by_tool": {tool: most_first(counts) for tool, counts in sorted(figures.by_tool.items())},
        "by_time": {"unit": unit, "spans": [{"name": one.name, **most_first(one.counts)} for one in all_spans]},
        "reviewers": most_first(figures.reviewers),
        "persons": most_first(figures.persons),
        "started_by": most_first(figures.started_by),
    }


def most_first(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the counts, the greatest first, of equal ones by name."""
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))


def utc(at: int | None) -> str | None:
    """Return a recorded time as UTC ISO 8601; one that no calendar has as the number that it is."""
    if at is None:
        return None
    try:
        whole = datetime.fromtimestamp(at // _MICRO, UTC)
    except (OverflowError, ValueError, OSError):
        return f"{at} µs"
    return f"{whole:%Y-%m-%dT%H:%M:%S}.{at % _MICRO:06d}Z"
