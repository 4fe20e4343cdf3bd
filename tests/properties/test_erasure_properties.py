"""Random episodes and random erasures: the log stays consistent, and everything that was not erased reads as before."""

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from spectrace.audit.integrity import CONSISTENT, verify_episode
from spectrace.audit.why import why_items
from spectrace.core.deeds import deeds
from spectrace.core.events import EpisodeStarted
from spectrace.core.fold import fold
from spectrace.core.specagent import SpecAgent
from spectrace.store import tables
from spectrace.store.copying import copy_log
from spectrace.store.erasing import Order, erase
from spectrace.store.erasing_plan import Matching, Named, plan
from spectrace.store.matching import Needle
from spectrace.store.soundness import check
from spectrace.store.sql import open_store
from spectrace.store.upkeep import rebuild
from tests.properties.played import play
from tests.properties.scripts import OPTIONS, options, scripts

WORDS = ("read", "write", "s1.1", "ok", "find", "nothing says this", '"', "a")
PROJECTED = (tables.summaries, tables.segments, tables.actions, tables.search)

ERASURES = st.lists(
    st.one_of(
        st.tuples(st.just("episode"), st.integers(0, 3)),
        st.tuples(st.just("event"), st.integers(0, 3), st.floats(0, 1, exclude_max=True)),
        st.tuples(st.just("text"), st.sampled_from(WORDS)),
    ),
    min_size=1,
    max_size=3,
)


def wanted(store, names, drawn):
    kind, *rest = drawn
    if kind == "text":
        return Matching(Needle(rest[0]))
    name = names[rest[0] % len(names)]
    seq = None if kind == "episode" else int(rest[1] * store.row(name).events)
    return Named(((name, seq),))


def stored(store, names):
    return {(name, one.seq): one for name in names for one in store.stored(name)}


def projected(store):
    with store.database.reading() as connection:
        return [sorted(map(repr, connection.execute(table.select()).all())) for table in PROJECTED]


def told(store, name):
    """Tell all that there is to tell of an episode: none of it fails for what is erased."""
    events = list(store.read(name))
    found = deeds(events)
    asked = [event.seq for event in events if event.type == "act.requested"]
    assert sorted(deed.seq for deed in found if deed.requested_at is not None) == asked
    if isinstance(events[0].body, EpisodeStarted):
        fold(events)
        why_items(events)


# An example takes a tenth of a second: to shrink one would take minutes.
@settings(
    max_examples=20,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.lists(st.tuples(scripts(), options(OPTIONS)), min_size=1, max_size=2), ERASURES)
def test_what_is_not_erased_stays_as_it_was_and_the_log_is_consistent(played, erasures):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.db"
        store = open_store(str(path))
        names = [play(script, SpecAgent, chosen, store).events[0].episode for script, chosen in played]
        for drawn in erasures:
            before = stored(store, names)
            chosen = wanted(store, names, drawn)
            parts = {part.episode: part for part in plan(store, chosen).parts}
            done = erase(store, chosen, Order())
            after = stored(store, names)

            assert (done.refused, done.problems) == ((), ())
            for (name, seq), one in before.items():
                is_taken = name in parts and parts[name].takes(seq)
                assert after[name, seq].body == (None if is_taken else one.body)
                assert (after[name, seq].header, after[name, seq].link) == (one.header, one.link)
            for name in (*names, *store.administrative()):
                assert verify_episode(store, name).result == CONSISTENT
            for name in names:
                told(store, name)
        now = projected(store)
        copy = open_store(str(Path(folder) / "copy.db"))
        copied = copy_log(store, copy)
        results = {verify_episode(copy, name).result for name in (*names, *copy.administrative())}
        copy.close()
        store.close()
        rebuild(str(path))
        again = open_store(str(path), read_only=True)

        assert {one.result for one in copied.episodes} == {"stored"}
        assert results == {CONSISTENT}
        assert projected(again) == now
        assert [one for one in check(str(path)) if one.problem is not None] == []
        again.close()
