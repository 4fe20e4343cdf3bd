"""Where spectrace's call stands beside the peers: rows made of what they measured, round by round."""

import statistics
from collections.abc import Iterator, Mapping, Sequence

from tests.benchmarks import peers
from tests.benchmarks.report import Row
from tests.benchmarks.rounds import Measured

NODES_A_STEP = 4
"""A step of the LangGraph graph: model, draft, verify, tool."""

Told = Mapping[str, Mapping[str, float]]
"""What one round of one peer printed: case -> figure -> value."""


def said(missing: Mapping[str, str]) -> str:
    """Return what one must know to read the peers' rows."""
    there = [peer for peer in peers.PEERS if peer.name not in missing]
    versions = ", ".join(sorted({peers.version(peer) for peer in there}))
    left_out = [f"Left out: {name} ({why})." for name, why in missing.items()]
    text = (
        "Each peer in an environment of its own, its code that of ../shared/bench, its settings as they come, a JSONL "
        f"writer beside it in the same process. {versions}."
    )
    return " ".join([text, *left_out])


def rows(found: Mapping[str, Measured], run: Measured) -> list[Row]:
    """Return the comparisons that have a goal, then what each peer measured against its own JSONL writer."""
    rounds = [told["figures"] for one in found.values() for told in one.rounds]
    step_us = 1e6 * statistics.median(one["t"] / len(one["lat"]) for one in run.rounds)
    return [
        *_goals(rounds, run.rate, step_us),
        *_table(rounds),
        Row("spectrace's call, a step of 4 source events", step_us, "us", note=f"{run['bytes']:,.0f} B an episode"),
    ]


def _goals(rounds: Sequence[Told], rate: float, step_us: float) -> Iterator[Row]:
    inspect_us = _difference(rounds, "e2e eval .eval realtime", "e2e eval .eval no realtime", "us_per_step")
    if inspect_us is not None:
        note = f"{step_us:.0f} us, {inspect_us:,.0f} us"
        yield Row("overhead of an agent step / Inspect's live log", step_us / inspect_us, at_most=0.1, note=note)
    saver_us = _difference(rounds, "graph nodes/s, SqliteSaver NORMAL", "graph nodes/s, no checkpointer", "us")
    if saver_us is not None:
        note = f"{step_us:.0f} us, {NODES_A_STEP * saver_us:,.0f} us for {NODES_A_STEP} nodes"
        what = "overhead of an agent step / LangGraph's saver"
        yield Row(what, step_us / (NODES_A_STEP * saver_us), at_most=0.2, note=note)
    for case, name in (
        ("inspect buffer DB, 1 event per txn", "Inspect's event buffer"),
        ("mlflow sqlite sync naive", "MLflow's tracing"),
    ):
        theirs = _median(rounds, case, "rate")
        if theirs is not None:
            yield Row(f"source events/s / {name}", rate / theirs, note=f"{rate:,.0f}, {theirs:,.0f}")


def _table(rounds: Sequence[Told]) -> Iterator[Row]:
    for name in dict.fromkeys(name for told in rounds for name in told):
        section, _, case = name.partition(": ")
        rate, size = _median(rounds, name, "rate"), _median(rounds, name, "bytes_ep")
        base = _median(rounds, f"{section}: jsonl", "rate")
        if rate is None or case.startswith("jsonl"):
            continue
        note = "" if size is None else f"{size:,.0f} B an episode"
        case += f", {section.partition('payload=')[2]} payloads" if "payload=" in section else ""
        if base is None or "nodes/s" in case:
            yield Row(case, rate, "a second", note=note)
        else:
            yield Row(f"{case} / JSONL", rate / base, note=f"{rate:,.0f}/s" + (f", {note}" if note else ""))


def _median(rounds: Sequence[Told], case: str, figure: str) -> float | None:
    values = [value for told in rounds if (value := _figure(told, case, figure)) is not None]
    return statistics.median(values) if values else None


def _difference(rounds: Sequence[Told], more: str, less: str, figure: str) -> float | None:
    """Return the median over the rounds of one case's figure minus another's."""
    values = []
    for told in rounds:
        one, other = _figure(told, more, figure), _figure(told, less, figure)
        if one is not None and other is not None:
            values.append(one - other)
    return statistics.median(values) if values else None


def _figure(told: Told, case: str, figure: str) -> float | None:
    return next((one[figure] for name, one in told.items() if case in name and figure in one), None)
