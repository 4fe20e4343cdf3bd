import pytest

from spectrace.audit.helpers import Crew, Episodes, Helper, Known, Texts, Worker
from spectrace.audit.integrity import CONSISTENT, KNOWN_BLOBS
from spectrace.errors import EpisodeNotFound, StoreError
from spectrace.store.sql import open_store
from tests.shop_log import recorded


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    opened = open_store(f"sqlite:///{tmp_path_factory.mktemp('log') / 'log.db'}")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def names(store):
    return [recorded(store) for _ in range(3)]


@pytest.fixture
def helper(store, names):
    started = Helper(str(store.database.url))
    yield started
    started.leave()
    started.close()


def tasks(store, names):
    return [*map(Texts, store.log.blob_ranges(KNOWN_BLOBS)), *(Episodes((name,)) for name in names)]


def test_a_helper_answers_as_this_process_would(store, names, helper):
    helper.ready()
    own = Worker(store)
    asked = tasks(store, names)
    known = Known(own.do(asked[0]))

    assert [helper.ask(task) for task in asked] == [own.do(task) for task in asked]
    assert (helper.ask(known), own.do(known)) == ([], [])
    assert helper.ask(asked[-1]) == own.do(asked[-1])


def test_what_goes_wrong_in_a_helper_is_raised_here_and_it_goes_on(names, helper):
    helper.ready()
    with pytest.raises(EpisodeNotFound, match="no episode 'nope'"):
        helper.ask(Episodes(("nope",)))

    assert [one.result for one in helper.ask(Episodes(names))] == [CONSISTENT] * 3


def test_a_helper_that_was_killed_is_an_error_that_says_what_to_do(names, helper):
    helper.ready()
    helper._process.kill()

    with pytest.raises(StoreError, match="`--jobs 1` verifies in one process"):
        helper.ask(Episodes(names))


@pytest.mark.parametrize("helpers", [0, 1])
def test_a_crew_answers_in_the_order_of_the_tasks(store, names, helpers):
    asked = tasks(store, names) * 4
    own = Worker(store)
    with Crew(store, helpers) as crew:
        assert list(crew.done(asked)) == [own.do(task) for task in asked]
        crew.know(own.do(asked[0]))
        assert list(crew.done(asked[-1:])) == [own.do(asked[-1])]


def test_a_crew_whose_helper_is_gone_says_so(store, names):
    with Crew(store, 1) as crew:
        crew._helpers[0]._process.kill()
        crew._line.put((7, Episodes(names)))  # as `done` does, which would do it itself
        number, answer = crew._done.get(timeout=10)

    assert (number, type(answer)) == (7, StoreError)
    assert "is there memory enough?" in str(answer)
