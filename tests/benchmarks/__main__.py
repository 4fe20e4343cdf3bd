"""`make bench`: spectrace beside a JSONL writer, naive rows and the peers; prints the tables and writes RESULTS.md.

Exits with 125 where it cannot run at all, with 1 where a table cannot be made. A goal that is missed is named, and is
no failure: the machine may be busy.
"""

import argparse
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks import machine, queueing, read_tables, replay_tables, report, sources, write_tables
from tests.benchmarks.report import Section
from tests.benchmarks.rounds import progress

RESULTS = Path(__file__).with_name("RESULTS.md")
CANNOT = 125
ROUNDS, QUICK_ROUNDS = 5, 3
LONG, QUICK_LONG = 50_000, 10_000
TAIL, QUICK_TAIL = 10_000, 3_000
SHOP, QUICK_SHOP = 1_000, 200


def main() -> int:
    """Measure, print, write."""
    options = _options()
    try:
        sources.prepare()
    except sources.Missing as missing:
        print(f"The benchmark cannot be run: {missing}", file=sys.stderr)
        return CANNOT
    facts, missing, found, failed = machine.facts(), {}, [], []
    for name, make in _sections(options, missing):
        if not options.only or name in options.only:
            begun = time.monotonic()
            try:
                found.append(make())
            except Exception as error:  # noqa: BLE001 - the other tables are worth having; the exit code tells
                traceback.print_exception(error)
                failed.append(name)
                continue
            progress(f"{name}: {time.monotonic() - begun:.0f} s")
            print("\n".join(["", f"## {found[-1].title}", "", *report.table(found[-1].rows)]), flush=True)
    for name, why in missing.items():
        print(f"Left out: {name}: {why}")
    for line in report.missed(found):
        print(f"Goal missed: {line}")
    if failed:
        print(f"These tables could not be made, and nothing was written: {', '.join(failed)}", file=sys.stderr)
        return 1
    if options.only and options.update:
        kept = options.output.read_text(encoding="utf-8")
        report.write(options.output, report.renewed(kept, facts[:4], found))
        print(f"Renewed in {options.output}: {', '.join(one.title for one in found)}")
    if not options.only and not (options.quick and options.output == RESULTS):
        report.write(options.output, report.markdown(facts, found, options.rounds))
        print(f"Written: {options.output}")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description="Measure against other recorders.")
    parser.add_argument("--quick", action="store_true", help="3 rounds, no peers: about three minutes")
    parser.add_argument("--rounds", type=int, help=f"interleaved rounds ({ROUNDS}; with --quick {QUICK_ROUNDS})")
    parser.add_argument("--only", action="append", help="measure these tables only", default=[])
    parser.add_argument("--update", action="store_true", help="with --only: put these tables into the file")
    parser.add_argument("--output", type=Path, default=RESULTS, help=f"the file to write ({RESULTS.name})")
    options = parser.parse_args()
    options.rounds = options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS)
    return options


def _sections(options: argparse.Namespace, missing: dict[str, str]) -> list[tuple[str, Callable[[], Section]]]:
    rounds, quick = options.rounds, options.quick
    every: list[tuple[str, Callable[[], Section]]] = [
        ("append", lambda: write_tables.append("syn", rounds)),
        ("append-real", lambda: write_tables.append("real", rounds)),
        ("tail", lambda: write_tables.tail(QUICK_TAIL if quick else TAIL, rounds)),
        ("flushes", write_tables.flush_count),
        ("durable", lambda: write_tables.flushed(rounds)),
        ("postgres", lambda: write_tables.on_postgres(rounds)),
        ("size", lambda: read_tables.sizes("syn", missing, with_peers=not quick)),
        ("size-real", lambda: read_tables.sizes("real", missing, with_peers=not quick)),
        ("load", lambda: read_tables.loads(rounds)),
        ("verify", lambda: read_tables.checks(rounds)),
        ("replay", lambda: replay_tables.replayed(rounds, missing, with_peers=not quick)),
        (
            "replay-command",
            lambda: replay_tables.by_command(QUICK_SHOP if quick else SHOP, min(rounds, 1 if quick else 3)),
        ),
        ("queue", queueing.section),
        ("long", lambda: read_tables.long_episode(QUICK_LONG if quick else LONG)),
    ]
    return every if quick else [*every, ("peers", lambda: write_tables.against_peers(rounds, missing))]


if __name__ == "__main__":
    sys.exit(main())
