"""An interrupted write that is settled and gone on with: on both databases each action is told once, by every way."""

import pytest

from spectrace.audit.answers import Filters
from spectrace.audit.queries import Reader
from spectrace.audit.recovery import recover
from spectrace.audit.settling import settle
from spectrace.core.events import ActRequested
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Finish
from spectrace.store.sql import open_store
from tests.desk import at
from tests.forks import recorded_in, replayed
from tests.lasting_desk import changes, connected, open_lasting
from tests.playbook import accept
from tests.resumes import answers, cut, resume

WEAK = [at("look"), at("change"), at("change", "B"), Finish("done")]


@pytest.fixture
def store(database_url):
    opened = open_store(database_url)
    yield opened
    opened.close()


def test_each_action_is_told_once_and_the_child_replays(store, tmp_path):
    file = tmp_path / "desk.db"
    events = recorded_in(open_lasting(file), SpecAgent(), weak=WEAK, strong=[accept()] * 3)
    asked = next(one.seq for one in events if isinstance(one.body, ActRequested) and one.body.tool == "change")
    name = cut(store, events, asked)
    with connected(file) as database:
        database.execute("DELETE FROM changes WHERE id = 'B'")
    recover(store, name)
    settle(store, name, asked, "ok", evidence="A is changed", by="Ann")
    child = resume(store, name, open_lasting(file), answers(events, asked))
    reader, new = Reader(store), child[0].episode
    by_index = [(deed.episode, deed.outcome) for deed in reader.actions(Filters(tool=("change",), sort="started_at"))]
    folded = [(deed.episode, deed.outcome) for deed in reader.actions(Filters(sort="started_at")) if deed.tool]

    assert (changes(file), replayed(child)) == (["A", "B"], "same")
    assert sorted(by_index) == sorted(folded) == sorted([(name, "ok"), (new, "ok")])
    assert {one.episode: one.writes for one in reader.episodes()}[new] == 1
