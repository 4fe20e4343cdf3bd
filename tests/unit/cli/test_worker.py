"""The command on real queues, in processes of its own: tests/faults/test_workers.py."""

import re
import subprocess
import sys

import pytest

from spectrace.runs.pass_plan import Plan
from tests import workers
from tests.shop_log import script
from tests.verifying import scores
from tests.workers import RUN, VERIFIER

NOWHERE = "postgresql://user@127.0.0.1:1/log"


def test_a_sqlite_log_is_refused_with_what_to_do_instead(line, episode):
    result = line("worker", "--verifier", "slow:judge")

    assert result.exit_code == 2
    assert "a queue needs a log in Postgres" in result.stderr
    assert "reverify --concurrency N" in result.stderr
    assert "spectrace db copy postgresql://" in result.stderr


def test_without_the_extra_it_says_how_to_install_it(line, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "procrastinate"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "procrastinate", None)
    result = line("worker", "--verifier", "slow:judge", "--db", NOWHERE)

    assert result.exit_code == 2
    assert "pip install 'spectrace[queue]'" in result.stderr


def test_a_server_that_is_not_there_is_told(line):
    result = line("worker", "--verifier", "slow:judge", "--db", NOWHERE)

    assert result.exit_code == 2
    assert "Is Postgres running there" in result.stderr


@pytest.fixture
def log(postgres_url):
    yield postgres_url
    workers.drop_queue(postgres_url)


def test_it_works_until_nothing_is_left_and_says_what_it_did(line, log, tmp_path):
    episodes = workers.record(log, 3)
    workers.write_verifier(tmp_path, 0)
    workers.begin(log, Plan(RUN, VERIFIER), episodes, 2)
    result = line("worker", "--db", log, "--verifier", VERIFIER)
    again = line("worker", "--db", log, "--verifier", VERIFIER)

    assert (result.exit_code, again.exit_code) == (0, 0)
    assert re.search(r"again +2 +0 +0 +0 +0 +3 +9\n", result.stdout)
    assert f"shard 1  run {RUN}: done, 2 of 2 episodes, 6 verdicts" in result.stderr
    assert "No shard was queued for this verifier." in again.stdout


def test_an_item_says_what_became_of_a_shard(line, log, tmp_path):
    episodes = workers.record(log, 1)
    workers.write_verifier(tmp_path, 0)
    workers.begin(log, Plan(RUN, VERIFIER), episodes, 2)
    (item,) = line.items("worker", "--db", log, "--verifier", VERIFIER)

    assert item == {
        "run": RUN,
        "shard": 1,
        "episodes": 1,
        "judged": 1,
        "verdicts": 3,
        "attempts": 0,
        "state": "done",
        "detail": None,
    }


def test_one_run_may_be_worked_on_alone(line, log, tmp_path):
    episodes = workers.record(log, 1)
    workers.write_verifier(tmp_path, 0)
    for name in ("one", "two"):
        workers.begin(log, Plan(name, VERIFIER), episodes, 2)
    result = line("worker", "--db", log, "--verifier", VERIFIER, "--run", "two", "--json")

    assert '"run": "two"' in result.stdout
    assert '"run": "one"' not in result.stdout
    assert "1 shard of run one: it is not the run that --run names." in result.stderr
    assert line("worker", "--db", log, "--verifier", VERIFIER, "--run", "three").exit_code == 2


def test_a_cancelled_run_is_left_alone_and_its_shards_taken_out(line, log, tmp_path):
    episodes = workers.record(log, 3)
    workers.write_verifier(tmp_path, 0)
    workers.begin(log, Plan(RUN, VERIFIER), episodes, 1)
    queued = line.items("runs", RUN, "--db", log)[0]["shards"]
    cancelled = line("runs", RUN, "--cancel", "--db", log)
    items = line.items("worker", "--db", log, "--verifier", VERIFIER)

    assert queued == {"queued": 3, "doing": 0, "failed": 0}
    assert "3 shards taken out of the queue" in cancelled.stderr
    assert (items, workers.standings(log), workers.counted(log, RUN)) == ([], {}, 0)


def test_the_command_line_loads_without_procrastinate():
    modules = "spectrace.cli.worker, spectrace.cli.runs, spectrace.cli.reverify"
    program = f"import sys, {modules}; print([one for one in sys.modules if one.startswith('procrastinate')])"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert said.stdout == "[]\n"


def test_a_verifier_that_gives_no_probabilities_works_on_no_scored_verdicts(line, log, tmp_path):
    episodes = workers.record(log, 1)
    workers.write_verifier(tmp_path, 0)
    workers.begin(log, Plan(RUN, VERIFIER, verdict="scored"), episodes, 2)
    refused = line("worker", "--db", log, "--verifier", VERIFIER, "--verdict", "scored")
    decoding = line("worker", "--db", log, "--verifier", VERIFIER)

    assert refused.exit_code == 2
    assert f"the verifier {VERIFIER} gives none: it decides by itself" in " ".join(refused.stderr.split())
    assert f"Left in the queue: 1 shard of run {RUN}: it takes verdicts scored at 0.5" in decoding.stderr
    assert workers.counted(log, RUN) == 0


def test_scored_verdicts_are_queued_and_worked_on_as_the_command_says(line, log, tmp_path):
    workers.record(log, 1)
    model = script(tmp_path / "scores.json", [{"content": scores(*[1.0] * n)} for n in (1, 2, 1)])
    asked = ("reverify", "--all", "--verifier", model, "--name", RUN, "--db", log, "--verdict", "scored")
    queued = line(*asked, "--threshold", "0.6", "--queue")
    (command,) = re.findall(r"spectrace (worker .*) --run", " ".join(queued.stderr.split()))
    (shard,) = line.items(*command.split(), "--db", log)

    assert command.endswith("--verdict scored --threshold 0.6")
    assert (shard["state"], shard["verdicts"]) == ("done", 3)
