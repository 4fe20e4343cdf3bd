"""The benchmark's tables about what was written: its size, reading it back, checking it, a long episode."""

from spectrace.store.sql import open_store
from tests.benchmarks import baselines, growth, ours, peers, reading, sources
from tests.benchmarks.report import Row, Section
from tests.benchmarks.rounds import folder, interleaved, size
from tests.benchmarks.write_tables import chosen

HELD_MB = 64
"""Memory that recording may take however long the episode is: twice the cache of texts written lately."""


def sizes(kind: str, missing: dict[str, str], *, with_peers: bool) -> Section:
    """Bytes on disk of the same episodes."""
    episodes = chosen(kind, count=100)
    module, _ = baselines.pipeline(kind, episodes)
    naive = module.naive("NORMAL", n=len(episodes))()["bytes_ep"]
    with folder() as at:
        empty = at / "empty.db"
        open_store(str(empty)).close()
        for _ in ours.written(episodes, at / "log.db"):
            pass
        fixed, whole = size(empty), size(at / "log.db")
    each = whole / len(episodes)
    rows = [
        Row(
            "spectrace / naive JSON rows", each / naive, at_most=0.06, note=f"{each:,.0f} B, {naive:,.0f} B an episode"
        ),
        Row("same, without what an empty database has", (whole - fixed) / len(episodes) / naive, note=f"{fixed:,} B"),
    ]
    if with_peers:
        told = peers.case(peers.SIZES[kind], sources.prepare(), missing)()["figures"]
        inspect = next((one["bytes_ep"] for name, one in told.items() if ".eval recorder" in name), None)
        if inspect is not None:
            rows.insert(
                1, Row("spectrace / Inspect .eval", each / inspect, at_most=1.2, note=f"{inspect:,.0f} B an episode")
            )
    return Section(
        f"Bytes on disk, {kind}: {len(episodes)} episodes", rows, "Real files, indexes and all, checkpointed."
    )


def loads(rounds: int) -> Section:
    """One episode of 60 source events."""
    _, theirs = baselines.loading()
    with folder() as at:
        names = list(ours.written(sources.load("syn")[:6], at / "log.db"))
        store, episode = open_store(str(at / "log.db"), read_only=True), names[5]
        found = interleaved(
            {
                "gzip": theirs["jsonl.gz + json.loads"],
                "naive": theirs["naive rows orjson.loads"],
                "parsed": reading.load(lambda: reading.parsed(store, episode)),
                "typed": reading.load(lambda: reading.typed(store, episode)),
                "whole": reading.load(lambda: reading.whole(store, episode)),
                "full": reading.load(lambda: reading.full(store, episode)),
            },
            rounds,
        )
        store.close()
    gzip = found["gzip"].p50
    told = {name: f"{one.p50 * 1e3:.2f} ms" for name, one in found.items()}
    rows = [
        Row(
            "parsed: gzip JSONL + json.loads / spectrace",
            gzip / found["parsed"].p50,
            at_least=15,
            note=told["parsed"],
        ),
        Row("typed, with all texts, no prompts: the same", gzip / found["typed"].p50, note=told["typed"]),
        Row("plain, with all texts and prompts: the same", gzip / found["whole"].p50, at_least=5, note=told["whole"]),
        Row("typed, with all texts and prompts: the same", gzip / found["full"].p50, note=told["full"]),
        Row("gzip JSONL + json.loads", gzip * 1e3, "ms"),
        Row("naive rows + orjson", found["naive"].p50 * 1e3, "ms"),
    ]
    return Section("Loading an episode of 60 source events (88 of spectrace's)", rows)


def checks(rounds: int) -> Section:
    """Verifying, one and two processes."""
    _, theirs = baselines.loading()
    with folder() as at:
        names = list(ours.written(sources.load("syn"), at / "log.db"))
        found = interleaved(
            {
                "floor": theirs["SHA-256 chain over 660 B in memory (floor)"],
                "same bytes": reading.chain_floor(at / "log.db", names),
                "one": reading.verify(at / "log.db", names),
                "alone": reading.verify(at / "log.db", names * reading.REPEATS),
                "two": reading.verify(at / "log.db", names * reading.REPEATS, jobs=2),
            },
            rounds,
        )
    one, alone, two = found["one"].rate, found["alone"].rate, found["two"].rate
    rows = [
        Row(
            "verify / SHA-256 chain of 660 B items",
            one / found["floor"].rate,
            at_least=0.2,
            note=f"{one:,.0f} events/s",
        ),
        Row("the same without the texts, which are known", alone / found["floor"].rate, note=f"{alone:,.0f} events/s"),
        Row(
            f"two processes / one, the log {reading.REPEATS} times",
            two / alone,
            at_least=1.8,
            note=f"{two:,.0f} events/s, start included",
        ),
        Row("verify / the same digests over the same bytes in memory", one / found["same bytes"].rate),
    ]
    return Section("Verifying, spectrace's own events", rows)


def long_episode(events: int) -> Section:
    """An episode whose calls each repeat the whole history."""
    with folder() as at:
        half, whole = growth.measure(events // 2, at), growth.measure(events, at)
    rows = [
        Row(
            "opened at its end", whole.open_s, "s", at_most=0.5, note=f"the last {growth.LAST} events, in a new process"
        ),
        Row(
            "bytes an event / those at half its length",
            whole.bytes_each / half.bytes_each,
            at_most=1.1,
            note=f"{whole.bytes_each:.0f} B",
        ),
        Row(
            "memory above what the caller holds",
            whole.megabytes,
            "MB",
            at_most=HELD_MB,
            note=f"{half.megabytes:.0f} MB at half its length",
        ),
        Row("recorded in", whole.seconds, "s", note=f"{half.seconds:.1f} s for half of it"),
    ]
    return Section(f"An episode of {whole.events:,} events, each call with the whole history", rows)
