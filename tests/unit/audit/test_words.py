"""A word that was changed after a child had gone on with it: nothing goes on from that child."""

import pytest

from spectrace.audit.children import require_untouched, taken_back
from spectrace.audit.settling import settle
from spectrace.audit.words import contradictions
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Finish
from spectrace.errors import ModelFailed, UsageError
from spectrace.store.memory import MemoryEventStore
from tests.desk import at
from tests.forks import recorded_in
from tests.lasting_desk import open_lasting
from tests.playbook import accept
from tests.resumes import answers, cut, resume

WEAK = [at("look"), at("change"), Finish("done")]
ASKED = 17
GONE = {"weak": [ModelFailed("unreachable", "gone")], "strong": []}


@pytest.fixture
def desk(tmp_path):
    return lambda: open_lasting(tmp_path / "desk.db")


@pytest.fixture
def events(tmp_path):
    return recorded_in(open_lasting(tmp_path / "desk.db"), SpecAgent(), weak=WEAK, strong=[accept()] * 2)


@pytest.fixture
def store():
    return MemoryEventStore()


def say(store, episode, outcome, by="Ann"):
    settle(store, episode, ASKED, outcome, evidence="looked", by=by)


def test_a_word_that_was_taken_back_is_named_with_the_last_one_and_its_parent_goes_on(events, store, desk):
    name = cut(store, events, ASKED)
    say(store, name, "ok")
    child = resume(store, name, desk(), GONE)[0].episode
    require_untouched(store, child)
    say(store, name, "never", "Bob")

    said = (
        rf"{child} went on with the word on {name}:{ASKED} that it was ok \(Ann, event \d+\); since then it was "
        rf"settled as never \(Bob, event \d+\). .*`spectrace resume {name}` goes on"
    )
    with pytest.raises(UsageError, match=said):
        require_untouched(store, child)
    require_untouched(store, name)
    say(store, name, "ok", "Bob")
    require_untouched(store, child)


def test_it_reaches_a_grandchild(events, store, desk):
    name = cut(store, events, ASKED)
    say(store, name, "ok")
    went = resume(store, name, desk(), GONE)
    child = cut(store, went, len(went) - 2, "child")
    grandchild = resume(store, child, desk(), GONE)[0].episode
    say(store, name, "error")

    with pytest.raises(UsageError, match=f"{child} went on with the word on {name}"):
        require_untouched(store, grandchild)


def test_what_was_done_again_on_the_word_never_is_not_gone_on_from_once_it_is_denied(events, store, desk):
    name = cut(store, events, ASKED)
    say(store, name, "never")
    child = resume(store, name, desk(), answers(events, ASKED), moved=True)[0].episode
    assert contradictions(store, name, child) == []
    say(store, name, "ok", "Bob")

    with pytest.raises(UsageError, match="something was done on the strength of it since"):
        require_untouched(store, child)
    assert [(one.child, one.request) for one in taken_back(store, name)] == [(child, ASKED)]


def test_other_evidence_for_the_same_word_takes_nothing_back(events, store, desk):
    name = cut(store, events, ASKED)
    say(store, name, "ok")
    child = resume(store, name, desk(), GONE)[0].episode
    say(store, name, "ok", "Bob")

    require_untouched(store, child)
