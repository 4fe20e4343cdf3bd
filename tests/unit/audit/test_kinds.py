import pytest

from spectrace.audit.kinds import are_reverified, is_reverified
from spectrace.audit.queries import Reader
from spectrace.errors import UsageError
from spectrace.store import runs
from spectrace.store.sql import open_store
from tests.rejudged import judge_again, record_reviews


def test_a_run_is_of_the_kind_of_its_episodes(store, reader):
    judge_again(store, record_reviews(store, 1, run="first"), "night")

    assert [is_reverified(reader, run) for run in ("night", "first", "nothing")] == [True, False, False]
    assert (are_reverified(reader, ["night"]), are_reverified(reader, ["first", "first"])) == (True, False)


def test_runs_of_different_kinds_are_refused_with_what_each_is(store, reader):
    judge_again(store, record_reviews(store, 1, run="first"), "night")

    with pytest.raises(UsageError, match="night is a re-verification; first has episodes"):
        are_reverified(reader, ["night", "first"])


@pytest.mark.parametrize("others", [[], ["night"], ["first"]])
def test_a_run_that_is_not_there_is_of_no_kind(store, reader, others):
    judge_again(store, record_reviews(store, 1, run="first"), "night")

    with pytest.raises(UsageError, match=r"no run is named 'frist' \(did you mean first\?\); `spectrace runs` lists"):
        are_reverified(reader, [*others, "frist"])
    with pytest.raises(UsageError, match="no run is named 'zzz'; `spectrace runs` lists them"):
        are_reverified(reader, [*others, "zzz"])


def test_a_run_without_any_episode_is_what_it_was_begun_as(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    runs.begin(store, "night", "reverify", [])
    runs.begin(store, "day", "run", [])
    reader = Reader(store)

    assert [is_reverified(reader, run) for run in ("night", "day")] == [True, False]
    reader.close()
