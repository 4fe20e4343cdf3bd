"""`spectrace audit violations`: what must never happen, and did. The rules are in `audit.rules`.

Exit 1 where something cannot have happened by the recorded protocol, a warning alone is no reason for it; 3 where that
cannot be told: something cannot be read, a rule of the user's raised, or nothing that was done could be judged at all,
as in imports that name no authority. Where some could, how many could not is said, by rule.
"""

from collections.abc import Sequence
from contextlib import nullcontext

import click

from spectrace.audit.answers import Filters
from spectrace.audit.lines import counted
from spectrace.audit.queries import Reader, Violation
from spectrace.audit.reading import Unread
from spectrace.audit.rules import RULES, VIOLATION, WARNING, Rule, Tally, rule_of
from spectrace.cli import console, document
from spectrace.cli.console import Column
from spectrace.cli.options import db_option, filter_options, json_option, reading
from spectrace.cli.select import chosen, episodes_argument
from spectrace.config import imported, settings_here
from spectrace.errors import UsageError
from spectrace.settings import meant

_COLUMNS = (Column("event"), Column("rule"), Column("severity", rank=1), Column("detail", flex=30))
_LISTED = (Column("rule"), Column("severity"), Column("what holds", flex=30))
_WHY = (
    "that change something or speak to somebody: the log names no authority for them, "
    "so whether anybody approved them cannot be told."
)
_UNKNOWN = 3


@click.command("violations")
@episodes_argument
@filter_options()
@click.option("--rule", "only", multiple=True, metavar="ID", help="Only this rule; may be given again.")
@click.option("--no-warnings", is_flag=True, help="Only what cannot have happened by the recorded protocol.")
@click.option("--with", "own", multiple=True, metavar="MODULE:ATTRIBUTE", help="A rule of yours, asked beside ours.")
@click.option("--rules", "listed", is_flag=True, help="List the rules: id, severity, what holds.")
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    episodes: Sequence[str],
    only: Sequence[str],
    own: Sequence[str],
    db: str | None,
    *,
    every: bool,
    filters: Filters,
    no_warnings: bool,
    listed: bool,
    as_json: bool,
) -> None:
    """List what breaks a rule of the audit, such as a write before its verdict, and what is worth a look."""
    theirs = users_rules(own)
    rules = _asked({**RULES, **theirs}, only)
    if listed:
        _list(rules, as_json=as_json)
        return
    lost, tally, found = list[Unread](), Tally(), list[Violation]()
    # What a user's rule prints must not stand in the document.
    with reading(db) as reader, document.kept_clean() if theirs else nullcontext(), console.progress() as progress:
        names = _names(reader, episodes, filters, every=every)
        for number, name in enumerate(names, 1):
            progress.show("rules", f"{number} of {counted(len(names), 'episode')}")
            found += reader.violations(name, rules=rules, lost=lost, tally=tally)
    shown = [one for one in found if one.severity == VIOLATION or not no_warnings]
    if as_json:
        document.write("audit-violations", [_item(one) for one in shown])
    elif shown or not (lost or tally.failed):
        show(shown, len(names), tally)
    _say(tally)
    unreadable = console.lost(lost)
    for one in tally.failed:
        console.say(f"{one.episode}: the rule {one.rule} could not be asked: {one.error}", "warning")
    broken = any(one.severity == VIOLATION for one in found)
    ctx.exit(1 if broken else _UNKNOWN if tally.nothing_judged or tally.failed else unreadable)


def users_rules(own: Sequence[str]) -> dict[str, Rule]:
    """Import the rules that the user named, here or in spectrace.toml; nothing else is imported."""
    found: dict[str, Rule] = {}
    for name in dict.fromkeys((*settings_here().rules, *own)):
        module, _, attribute = name.partition(":")
        if not module or not attribute:
            raise UsageError(f"a rule of yours is named MODULE:ATTRIBUTE, found {name!r}.")
        with document.kept_clean():
            rule = rule_of(name, imported("rule", module, attribute))
        if rule.id in RULES or rule.id in found:
            raise UsageError(f"rule {name}: there is a rule {rule.id} already; give it another id.")
        found[rule.id] = rule
    return found


def _asked(rules: dict[str, Rule], only: Sequence[str]) -> list[Rule]:
    for name in only:
        if name not in rules:
            raise UsageError(
                f"no rule is named {name!r}{meant(name, rules)}; `spectrace audit violations --rules` lists them."
            )
    return [rule for rule in rules.values() if not only or rule.id in only]


def _list(rules: Sequence[Rule], *, as_json: bool) -> None:
    if as_json:
        items = [{"rule": one.id, "severity": one.severity, "sentence": one.sentence} for one in rules]
        document.write("audit-rules", items)
        return
    rows: list[list[console.Cell]] = [[(one.id, "name"), one.severity, one.sentence] for one in rules]
    console.table(_LISTED, rows, "There are no rules.")


def _names(reader: Reader, episodes: Sequence[str], filters: Filters, *, every: bool) -> list[str]:
    """Return the episodes that were chosen, or all: a log without any breaks no rule."""
    if episodes or every or filters != Filters():
        return chosen(reader, episodes, every, filters)
    return [one.episode for one in reader.iter_episodes(Filters(sort="started_at"))]


def show(found: Sequence[Violation], episodes: int, tally: Tally) -> None:
    """Write the violations as a table, the warnings behind them."""
    order = sorted(found, key=lambda one: one.severity == WARNING)
    rows: list[list[console.Cell]] = [
        [(f"{one.episode}:{one.seq}", "name"), one.rule, one.severity, one.detail] for one in order
    ]
    none = "Nothing could be judged" if tally.nothing_judged else "No rule is broken"
    console.table(_COLUMNS, rows, f"{none} ({counted(episodes, 'episode')} looked at).")


def _say(tally: Tally) -> None:
    """Say what could not be judged: by no rule at all, then by which, then what is erased."""
    if tally.beyond:
        console.say(f"No rule could be applied to {tally.beyond} of {counted(tally.acts, 'action')} {_WHY}", "warning")
    groups: dict[tuple[int, int], list[str]] = {}
    for rule, unjudged in tally.unjudged.items():
        if unjudged and not tally.nothing_judged:
            groups.setdefault((unjudged, tally.subjects[rule]), []).append(rule)
    for (unjudged, subjects), names in groups.items():
        what = f"{unjudged} of {counted(subjects, 'action')}"
        console.say(f"The log does not say enough of {what} for {', '.join(names)}.", "warning")
    if tally.erased:
        console.say(f"{counted(tally.erased, 'event')} erased: judged by their headers alone.", "warning")


def _item(one: Violation) -> dict[str, object]:
    return {
        "episode": one.episode,
        "seq": one.seq,
        "rule": one.rule,
        "detail": one.detail,
        "severity": one.severity,
    }
