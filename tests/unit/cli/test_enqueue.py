import pytest

from tests import workers
from tests.workers import REVIEWS, RUN, VERIFIER


def test_a_sqlite_log_has_no_queue_and_nothing_is_begun(line, episode):
    result = line("reverify", episode, "--verifier", "slow:judge", "--name", RUN, "--queue")

    assert result.exit_code == 2
    assert "a queue needs a log in Postgres" in result.stderr
    assert line("runs", RUN).exit_code == 2


def test_a_budget_is_the_workers(line):
    url = "postgresql://user@127.0.0.1:1/log"
    result = line("reverify", "--all", "--verifier", "v", "--queue", "--max-cost-usd", "1", "--db", url)

    assert result.exit_code == 2
    assert "give --max-cost-usd to `spectrace worker`" in result.stderr


@pytest.fixture
def log(postgres_url):
    yield postgres_url
    workers.drop_queue(postgres_url)


def test_a_run_is_queued_worked_on_and_read_like_any_other(line, log, tmp_path):
    workers.record(log, 5)
    workers.write_verifier(tmp_path, 0)
    asked = ("reverify", "--all", "--verifier", VERIFIER, "--name", RUN, "--db", log)
    queued = line(*asked, "--queue", "--shard", "2")
    standing = line.items("runs", RUN, "--db", log)[0]["shards"]
    worked = line.items("worker", "--verifier", VERIFIER, "--db", log)
    rest = line.items("reverify", "--name", RUN, "--verifier", VERIFIER, "--db", log)

    assert queued.exit_code == 0, queued.stderr
    assert "It will take 15 calls" in queued.stderr
    assert "3 shards of run again put into the queue." in queued.stderr
    assert f"spectrace worker --verifier {VERIFIER} --run {RUN} --db postgresql://" in queued.stderr
    assert standing == {"queued": 3, "doing": 0, "failed": 0}
    assert [item["episodes"] for item in worked] == [2, 2, 1]
    assert len(rest) == 5 * REVIEWS


def test_queueing_again_adds_only_what_is_left_and_not_there_yet(line, log, tmp_path):
    workers.record(log, 4)
    workers.write_verifier(tmp_path, 0)
    asked = ("reverify", "--all", "--verifier", VERIFIER, "--name", RUN, "--db", log, "--queue", "--shard", "1")
    first, second = line(*asked), line(*asked)
    line("worker", "--verifier", VERIFIER, "--db", log)
    third = line(*asked)

    assert "4 shards of run again" in first.stderr
    assert "0 shards of run again" in second.stderr
    assert "0 shards of run again" in third.stderr


def test_a_verifier_that_is_not_reached_from_here_may_be_reached_by_the_workers(line, log):
    workers.record(log, 1)
    model = "openai:m@http://127.0.0.1:1"
    result = line("reverify", "--all", "--verifier", model, "--name", RUN, "--db", log, "--queue")

    assert result.exit_code == 0, result.stderr
    assert "The verifier does not answer here" in result.stderr
    assert "spectrace worker --verifier openai:m[@URL] --run again" in result.stderr
    assert "1 shard of run again" in result.stderr


def test_the_document_holds_what_is_judged_so_far(line, log, tmp_path):
    workers.record(log, 1)
    workers.write_verifier(tmp_path, 0)
    asked = ("reverify", "--all", "--verifier", VERIFIER, "--name", RUN, "--db", log)
    before = line.items(*asked, "--queue")
    line("worker", "--verifier", VERIFIER, "--db", log)
    after = line.items(*asked, "--queue")

    assert (len(before), len(after)) == (0, REVIEWS)


def test_a_cancelled_run_is_not_queued_again(line, log, tmp_path):
    workers.record(log, 1)
    workers.write_verifier(tmp_path, 0)
    asked = ("reverify", "--all", "--verifier", VERIFIER, "--name", RUN, "--db", log, "--queue")
    line(*asked)
    line("runs", RUN, "--cancel", "--db", log)
    again = line(*asked)

    assert again.exit_code == 2
    assert "was cancelled" in again.stderr
