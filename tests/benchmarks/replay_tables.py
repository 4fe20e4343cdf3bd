"""The benchmark's tables about replay: beside vcrpy, beside reading alone, and a thousand episodes by the command."""

from spectrace.store.sql import open_store
from tests.benchmarks import peers, replaying
from tests.benchmarks.report import Row, Section
from tests.benchmarks.rounds import Run, folder, interleaved
from tests.benchmarks.write_tables import chosen

EPISODES = 10
_US = 1e6


def replayed(rounds: int, missing: dict[str, str], *, with_peers: bool) -> Section:
    """Microseconds a question: a model call or an act."""
    with folder() as at:
        database = at / "log.db"
        store = open_store(str(database))
        names = replaying.corpus(store, chosen("syn", count=EPISODES))
        whole = list(replaying.counted(store, names))
        store.close()
        asked = sum(map(len, whole))
        bare = [replaying.bare(one, number) for number, one in enumerate(whole)]
        cases: dict[str, Run] = {
            "replay": replaying.replay(database, names, asked),
            "fetch": replaying.fetch(database, names, asked),
            "json": replaying.fetch_json(database, names, asked),
        }
        if with_peers:
            cases["vcr whole"] = replaying.vcr(at, "whole", whole, "json", missing)
            cases["vcr bare"] = replaying.vcr(at, "bare", bare, "json", missing)
            cases["vcr bare yaml"] = replaying.vcr(at, "bare", bare, "yaml", missing)
        found = interleaved(cases, rounds)
    ours = found["replay"].rate
    each = {name: f"{_US / one.rate:,.0f} us a question" if one.rate else "" for name, one in found.items()}
    rows = [
        Row("replay / fetching and parsing alone", found["fetch"].rate / ours, at_most=3, note=each["replay"]),
        Row("replay / bodies as JSON alone: no texts, no prompts", found["json"].rate / ours, note=each["json"]),
        Row("fetching and parsing: typed events, every text and prompt", _US / found["fetch"].rate, "us a question"),
    ]
    if with_peers and replaying.VCR.name not in missing:
        rows[:0] = [
            Row(
                "replay / vcrpy, the same questions and answers",
                ours / found["vcr whole"].rate,
                at_least=15,
                note=f"{each['vcr whole']}; JSON cassettes",
            ),
            Row(
                "replay / vcrpy, the same answers to empty questions",
                ours / found["vcr bare"].rate,
                note=f"{each['vcr bare']}; JSON cassettes, an address each: nothing of a prompt is looked at",
            ),
            Row(
                "the same, YAML cassettes (vcrpy's default)",
                ours / found["vcr bare yaml"].rate,
                note=each["vcr bare yaml"],
            ),
        ]
    said = (
        f"{asked} questions of {len(names)} episodes, {asked / len(names):.0f} each: model calls with their whole "
        "prompts, and acts; the observations are the corpus'. Reading the log, and loading the cassettes, count."
    )
    if with_peers and replaying.VCR.name not in missing:
        said += f" {peers.version(replaying.VCR)}."
    return Section(f"Replay: {len(names)} episodes with the observations of the corpus", rows, said)


def by_command(episodes: int, rounds: int) -> Section:
    """So many recorded shop episodes through `spectrace replay --all`."""
    with folder() as at:
        replaying.shop(at / "log.db", episodes)
        found = interleaved({"command": replaying.command_line(at / "log.db")}, rounds)["command"]
    seconds = episodes / found.rate
    rows = [
        Row(
            f"{episodes:,} shop episodes",
            seconds,
            "s",
            at_most=60 * episodes / 1_000,
            note=f"{found.rate:,.0f} episodes/s, {found['events'] / seconds:,.0f} events/s, its start included",
        )
    ]
    return Section("Replay through the command line", rows, "`spectrace replay --all`: every episode is the same.")
