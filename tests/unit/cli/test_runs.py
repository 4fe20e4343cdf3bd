from tests.shop_log import script

CONTRACT = "run kind selection total done failed unusable cost_usd state"


def test_an_item_has_the_fields_that_others_rely_on(line, episode):
    (item,) = line.items("runs")

    assert set(CONTRACT.split()) <= set(item)
    assert (item["run"], item["kind"], item["total"], item["done"], item["state"]) == ("first", "run", 1, 1, "ended")


def test_one_run_says_how_to_list_its_episodes(line, episode):
    result = line("runs", "first")

    assert ("first" in result.stdout, "spectrace ls --run first" in result.stderr) == (True, True)


def test_an_unknown_run_is_refused(line, episode):
    assert line("runs", "other").exit_code == 2


def test_what_a_run_cost_is_told_by_its_item_and_the_table(line, episode):
    (item,) = line.items("runs")
    rows = line("runs", env={"COLUMNS": "300"}).stdout.splitlines()

    assert (item["cost_usd"], item["cost_usd_at_least"]) == ("0", None)
    assert rows[0].endswith("cost USD")


ACCEPT = {"verdict": "accept"}


def test_a_re_verification_may_be_cancelled(line, episode, tmp_path):
    line("reverify", episode, "--verifier", script(tmp_path / "v.json", [ACCEPT]), "--name", "again")
    result = line("runs", "again", "--cancel")

    assert (result.exit_code, "Run again is cancelled; 0 shards taken out of the queue." in result.stderr) == (0, True)
    assert [one["state"] for one in line.items("runs", "again")] == ["cancelled"]


def test_only_a_re_verification_is_cancelled(line, episode):
    assert line("runs", "--cancel").exit_code == 2
    assert line("runs", "nobody", "--cancel").exit_code == 2
    result = line("runs", "first", "--cancel")
    assert (result.exit_code, "run 'first' records episodes: stop it with Ctrl-C" in result.stderr) == (2, True)


def test_a_re_verification_that_is_done_is_not_cancelled(line, episode, tmp_path):
    line("reverify", episode, "--verifier", script(tmp_path / "v.json", [ACCEPT] * 3), "--name", "again")
    result = line("runs", "again", "--cancel")

    assert (result.exit_code, "run 'again' is done" in result.stderr) == (2, True)
    assert [one["state"] for one in line.items("runs", "again")] == ["ended"]


def test_a_log_without_a_queue_has_no_shards(line, episode):
    assert [one["shards"] for one in line.items("runs")] == [None]
    assert "shards" not in line("runs", env={"COLUMNS": "300"}).stdout
