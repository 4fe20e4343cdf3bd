"""Workers that are killed, stopped and beside others: no verdict is lost, and none counts twice."""

import signal

import pytest

from spectrace.audit.passes import read_pass
from spectrace.audit.queries import open_reader
from spectrace.runs.pass_plan import Plan
from spectrace.store.jobs import Standing, queue_key
from tests import workers
from tests.workers import REVIEWS, RUN, VERIFIER, WorkerProcess, until

EPISODES = 167
"""Of three reviews each: 501."""


@pytest.fixture
def log(postgres_url):
    yield postgres_url
    workers.drop_queue(postgres_url)


def judged_once(log, run, episodes):
    """Return whether each review has exactly one counted verdict, and how many were given and not counted."""
    with open_reader(log) as reader:
        answers = read_pass(reader, run).answers
    keys = {(one.episode, one.segment, one.repeat) for one in answers}
    given = workers.given(log, run)
    assert len(given) == len(episodes) * REVIEWS
    return len(answers) == len(keys) == len(episodes) * REVIEWS, sum(given.values()) - len(given)


@pytest.mark.timeout(600)
def test_two_workers_share_500_reviews_one_is_killed_and_nothing_is_lost_or_counted_twice(log, tmp_path):
    episodes = workers.record(log, EPISODES)
    workers.begin(log, Plan(RUN, VERIFIER), episodes, 16)
    workers.write_verifier(tmp_path, 0.03)
    options = ("--concurrency", "4", "--silent-s", "3")
    dying, living = (WorkerProcess(log, tmp_path, *options) for _ in range(2))
    until(lambda: workers.counted(log, RUN) > len(episodes) * REVIEWS // 3)
    dying.send(signal.SIGKILL)
    killed, _, _ = dying.wait()
    left_behind = workers.standings(log)[queue_key(RUN)].doing
    code, items, said = living.wait(300)

    assert (killed, code) == (-signal.SIGKILL, 0), said
    assert left_behind >= 1
    assert [item["attempts"] for item in items].count(1) >= 1  # the shard of the dead
    assert {item["state"] for item in items} == {"done"}
    once, again = judged_once(log, RUN, episodes)
    assert once
    assert again <= 4  # at most what was under way when it died: asked again, not counted twice
    assert workers.standings(log) == {}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_that_is_stopped_gives_its_shard_back_and_says_so(log, tmp_path, number):
    episodes = workers.record(log, 8)
    workers.begin(log, Plan(RUN, VERIFIER), episodes, 8)
    workers.write_verifier(tmp_path, 0.2)
    stopped = WorkerProcess(log, tmp_path, "--concurrency", "2")
    until(lambda: workers.counted(log, RUN) >= 3)
    stopped.send(number)
    code, (item,), said = stopped.wait()
    left = workers.standings(log)
    _, others, _ = WorkerProcess(log, tmp_path, "--concurrency", "8").wait()

    assert code == 130
    assert (item["state"], item["episodes"]) == ("given_back", 8)
    assert "given back" in said
    assert "episodes left" in said
    assert left == {queue_key(RUN): Standing(queued=1)}
    assert [(one["state"], one["attempts"]) for one in others] == [("done", 1)]
    assert judged_once(log, RUN, episodes)[0]


def test_a_worker_that_waits_is_done_when_it_is_stopped(log, tmp_path):
    episodes = workers.record(log, 2)
    workers.write_verifier(tmp_path, 0)
    workers.begin(log, Plan(RUN, VERIFIER), episodes, 1)
    waiting = WorkerProcess(log, tmp_path, "--wait")
    until(lambda: workers.counted(log, RUN) == 2 * REVIEWS)
    until(lambda: workers.standings(log) == {})
    waiting.send(signal.SIGTERM)
    code, items, _ = waiting.wait()

    assert (code, [one["state"] for one in items]) == (0, ["done", "done"])


def test_two_verifiers_workers_do_not_take_each_others_shards(log, tmp_path):
    episodes = workers.record(log, 4)
    workers.write_verifier(tmp_path, 0)
    (tmp_path / "other.py").write_text("def judge(request):\n    return 0\n")
    workers.begin(log, Plan("slow", VERIFIER), episodes, 2)
    workers.begin(log, Plan("other", "other:judge"), episodes, 2)
    workers.begin(log, Plan("prompts", VERIFIER, "sha256:" + "0" * 64), episodes, 4)
    code, items, said = WorkerProcess(log, tmp_path).wait()
    mine = workers.standings(log)
    _, theirs, _ = WorkerProcess(log, tmp_path, verifier="other:judge").wait()

    assert (code, {one["run"] for one in items}, {one["run"] for one in theirs}) == (0, {"slow"}, {"other"})
    assert "Left in the queue: 2 shards of run other: its verifier is other:judge." in said
    assert "Left in the queue: 1 shard of run prompts: it asks with other prompts." in said
    assert mine == {queue_key("other"): Standing(queued=2), queue_key("prompts"): Standing(queued=1)}
    with open_reader(log) as reader:
        assert {one.verdict.accepted for one in read_pass(reader, "other").answers} == {0}
        assert 0 not in {one.verdict.accepted for one in read_pass(reader, "slow").answers}


def test_another_model_of_the_same_name_does_not_go_on_with_a_run(log, tmp_path):
    episodes = workers.record(log, 4)
    workers.write_verifier(tmp_path, 0)
    workers.begin(log, Plan(RUN, VERIFIER), episodes[:2] + episodes[2:], 2)
    (tmp_path / "elsewhere").mkdir()
    workers.write_verifier(tmp_path / "elsewhere", 0.001)
    one = WorkerProcess(log, tmp_path, "--wait")
    until(lambda: workers.counted(log, RUN) == 4 * REVIEWS)
    one.send(signal.SIGTERM)
    one.wait()
    workers.begin(log, Plan(RUN, VERIFIER), episodes, 4)
    code, items, said = WorkerProcess(log, tmp_path / "elsewhere").wait()

    assert (code, [item["state"] for item in items]) == (1, ["given_back"])
    assert "slow:judge is not the model here that run 'again' was begun with: they differ in server.sources" in said


def test_poisonous_jobs_fail_and_the_worker_says_so_and_goes_on(log, tmp_path):
    episodes = workers.record(log, 2)
    workers.write_verifier(tmp_path, 0)
    workers.put(log, RUN, [{"run": "nobody", "episodes": ["x"]}, {"run": RUN, "episodes": ["\x1b[31mx"]}, {"a": 1}])
    workers.put(log, "nobody", [{"run": "nobody", "episodes": ["x"]}])
    workers.begin(log, Plan(RUN, VERIFIER), episodes, 2)
    code, items, said = WorkerProcess(log, tmp_path).wait()

    assert code == 1
    assert [item["state"] for item in items] == ["failed", "failed", "failed", "done"]
    assert said.count("not a shard of ours") == 3
    assert "\x1b[31m" not in said
    assert "Left in the queue: 1 job of runs that this log does not know or were cancelled." in said
    assert judged_once(log, RUN, episodes)[0]


def test_a_verifier_that_fails_is_told_and_the_shard_is_tried_again_later(log, tmp_path):
    episodes = workers.record(log, 1)
    (tmp_path / "broken.py").write_text("def judge(request):\n    raise OSError('no route')\n")
    workers.begin(log, Plan(RUN, "broken:judge"), episodes, 1)
    worker = WorkerProcess(log, tmp_path, verifier="broken:judge")
    until(lambda: workers.attempts(log) == [1])
    worker.send(signal.SIGTERM)
    _, (item,), said = worker.wait()

    assert (item["state"], item["judged"], item["verdicts"]) == ("given_back", 0, 0)
    assert "no route" in item["detail"]
    assert "no route" in said
    assert workers.standings(log) == {queue_key(RUN): Standing(queued=1)}


def test_the_same_shard_in_the_queue_twice_is_counted_once(log, tmp_path):
    episodes = workers.record(log, 4)
    workers.write_verifier(tmp_path, 0.3)
    workers.begin(log, Plan(RUN, VERIFIER), episodes, 4)
    workers.put(log, RUN, [{"run": RUN, "episodes": episodes}])
    both = [WorkerProcess(log, tmp_path, "--concurrency", "4") for _ in range(2)]
    ended = [one.wait() for one in both]

    assert [code for code, _, _ in ended] == [0, 0], [said for _, _, said in ended]
    once, again = judged_once(log, RUN, episodes)
    assert once
    assert again <= 4  # two that begin in the same moment both see each other; one gives way
    assert workers.standings(log) == {}
