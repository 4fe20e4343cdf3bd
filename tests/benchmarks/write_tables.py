"""The benchmark's tables about writing: which cases run side by side, and what is read from them."""

from collections.abc import Mapping, Sequence

from tests.benchmarks import (
    baselines,
    durable,
    flushing,
    machine,
    ours,
    peers,
    postgres,
    sources,
    standings,
)
from tests.benchmarks.report import Row, Section
from tests.benchmarks.rounds import Measured, folder, interleaved

JSONL, NAIVE = "jsonl orjson no sync /step", "naive rows orjson NORMAL /step"
FLUSHED = "jsonl fdatasync /step"
MEASURED_FROM = 100
"""The episodes from here on; the scripts of ../shared/bench measure these too."""
EPISODES = 60


def chosen(kind: str, first: int = MEASURED_FROM, count: int = EPISODES) -> Sequence[sources.Source]:
    """Return the source episodes that are measured."""
    return sources.load(kind)[first : first + count]


def append(kind: str, rounds: int) -> Section:
    """Events a second, a transaction a step."""
    episodes = chosen(kind)
    _, theirs = baselines.pipeline(kind, episodes)
    found = interleaved(
        {
            "jsonl": theirs[JSONL],
            "naive": theirs[NAIVE],
            "prototype": theirs["proto raw NORMAL /step"],
            "recorder": ours.recorder(episodes),
            "redacted": ours.recorder(episodes, redacting=True),
            "append": ours.appending(episodes),
            "alone": ours.encoding_and_sql(episodes),
        },
        rounds,
    )
    jsonl, naive = found["jsonl"].rate, found["naive"].rate
    run, bulk, alone = found["recorder"], found["append"], found["alone"]
    goals = kind == "syn"
    each = f"p50 {run.p50 * 1e6:.0f} us a step"
    rows = [
        Row("call that `spectrace run` uses / JSONL", run.rate / jsonl, at_least=0.20 if goals else None, note=each),
        Row(
            "encoding and SQL alone / JSONL",
            alone.rate / jsonl,
            at_least=0.33 if goals else None,
            note="no schema check",
        ),
        Row("encoding and SQL alone / naive JSON rows", alone.rate / naive, at_least=2 if goals else None),
        Row("call that `spectrace run` uses / naive JSON rows", run.rate / naive),
        Row(
            "redaction on / the same without",
            found["redacted"].rate / run.rate,
            note=f"p50 {found['redacted'].p50 * 1e6:.0f} us a step",
        ),
        Row("bulk call (SqlWriter.append) / JSONL", bulk.rate / jsonl, note=f"p50 {bulk.p50 * 1e6:.0f} us a step"),
        Row("call that `spectrace run` uses / JSONL, spectrace's own events", run["own"] / jsonl),
        Row("whole episodes, create and end flushed / JSONL", run["whole"] / jsonl),
        Row("naive JSON rows / JSONL", naive / jsonl),
        Row("the prototype (raw sqlite3) / JSONL", found["prototype"].rate / jsonl, note="no salts, no schema check"),
        Row("JSONL, orjson, no flush", jsonl, "events/s", note=f"p50 {found['jsonl'].p50 * 1e6:.0f} us a step"),
    ]
    said = (
        "Events are those of the source, for both sides: a model call is one line of JSONL and two events of spectrace "
        "(asked, answered), so it writes 88 for 60. Nothing is flushed. "
    )
    return Section(f"Append, {kind}: {len(episodes)} episodes", rows, said)


def tail(steps: int, rounds: int) -> Section:
    """Return how far the slowest of many steps are from the middle."""
    sources.prepare()
    import gen

    episodes = gen.syn(steps // 15 + 1, seed=11)
    found = interleaved({"recorder": ours.recorder(episodes), "append": ours.appending(episodes)}, rounds)
    rows = [
        Row(
            f"{name}: p99 / p50",
            one.p99 / one.p50,
            at_most=5,
            note=f"p50 {one.p50 * 1e6:.0f} us, p99 {one.p99 * 1e6:.0f} us",
        )
        for name, one in (("call that `spectrace run` uses", found["recorder"]), ("bulk call", found["append"]))
    ]
    return Section(f"Tail of {steps:,} unflushed steps", rows)


def flush_count() -> Section:
    """Flushes by strace."""
    with folder() as at:
        counted = flushing.each(at)
    if counted is None:
        return Section("Flushes", (), "Not counted: strace is not installed.")
    rows = [
        Row("a read step", counted[0], "flushes", at_least=0, at_most=0),
        Row("a write step", counted[1], "flushes", at_least=2, at_most=2),
    ]
    return Section("Flushes of a live episode, counted by strace", rows)


def flushed(rounds: int) -> Section:
    """Durable appends, one agent; then 64 at once."""
    episodes = sources.load("syn")
    _, theirs = baselines.pipeline("syn", chosen("syn"))
    _, grouped = baselines.script("m1f_group")
    with machine.awake():
        one = interleaved(
            {"jsonl": theirs[FLUSHED], "ours": ours.appending(chosen("syn", count=12), durable=True)}, rounds
        )
        found = interleaved(
            {
                "jsonl 1": grouped["JSONL fdatasync, 1 agents"],
                "jsonl 64": grouped["JSONL fdatasync, 64 agents"],
                "prototype 1": grouped["SQLite FULL group commit, 1 agents"],
                "prototype 64": grouped["SQLite FULL group commit, 64 agents"],
                **{f"{name} {agents}": case(episodes, agents) for name, case in _TEAMS for agents in (1, 64)},
            },
            rounds,
        )
    rows = [
        Row(
            "bulk call, flushed / JSONL with fdatasync: p50",
            one["ours"].p50 / one["jsonl"].p50,
            at_most=1.7,
            note=f"{one['ours'].p50 * 1e6:.0f} us, {one['jsonl'].p50 * 1e6:.0f} us",
        ),
        *_teams(found, "SQLite", at_least=5),
        Row(
            "the prototype, which encoded before: 64 agents / one",
            found["prototype 64"].rate / found["prototype 1"].rate,
        ),
        Row("JSONL with fdatasync: 64 agents / one", found["jsonl 64"].rate / found["jsonl 1"].rate),
    ]
    said = (
        "Each agent waits until its own step is on stable storage. With a flush of F and E of processor time a step, "
        "no group commit can gain more than (E + F) / E: a fast flush leaves little to share."
    )
    return Section("Flushed appends", rows, said)


_TEAMS = (("threads", durable.threads), ("tasks", durable.tasks))


def _teams(found: Mapping[str, Measured], where: str, at_least: float | None) -> list[Row]:
    return [
        Row(
            f"{where}, {what}: 64 agents / one",
            found[f"{name} 64"].rate / found[f"{name} 1"].rate,
            at_least=at_least,
            note=f"{found[f'{name} 1'].rate:,.0f} and {found[f'{name} 64'].rate:,.0f} steps/s",
        )
        for name, what in (("threads", "threads that append"), ("tasks", "asyncio tasks that settle"))
    ]


def on_postgres(rounds: int) -> Section:
    """Postgres through SQLAlchemy and through psycopg alone; 64 agents."""
    episodes = chosen("syn", count=30)
    with postgres.server() as url:
        found = interleaved(
            {
                "sqlalchemy": postgres.appending(episodes, url, raw=False),
                "raw": postgres.appending(episodes, url, raw=True),
            },
            rounds,
        )
        with machine.awake():
            every = sources.load("syn")
            schema = postgres.schema(url)
            teams = interleaved(
                {f"{name} {agents}": case(every, agents, schema) for name, case in _TEAMS for agents in (1, 64)}, rounds
            )
    rows = [
        Row(
            "through SQLAlchemy / raw psycopg, same statements",
            found["sqlalchemy"].rate / found["raw"].rate,
            at_least=0.90,
            note=f"p50 {found['sqlalchemy'].p50 * 1e6:.0f} us, {found['raw'].p50 * 1e6:.0f} us a step",
        ),
        *_teams(teams, "Postgres", at_least=5),
    ]
    return Section("Postgres", rows, "A server of its own on this machine, its settings as they come.")


def against_peers(rounds: int, missing: dict[str, str]) -> Section:
    """The peers, round by round beside spectrace's own call."""
    work, episodes = sources.prepare(), chosen("syn", count=20)
    cases = {peer.name: peers.case(peer, work, missing) for peer in peers.PEERS}
    found = interleaved({**cases, "recorder": ours.recorder(episodes)}, rounds)
    run = found.pop("recorder")
    return Section("Peers, syn", standings.rows(found, run), standings.said(missing))
