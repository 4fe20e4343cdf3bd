import pytest

from tests.command_line import in_a_directory
from tests.roles import connected, roles_of


@pytest.fixture
def line(monkeypatch, tmp_path):
    return in_a_directory(monkeypatch, tmp_path)


@pytest.fixture
def roles(postgres_url):
    with roles_of(postgres_url) as made:
        yield made


def test_it_prints_a_transaction_that_another_tool_can_run(line, roles):
    name = roles.make()
    done = line("db", "grants", "--reader", name, "--project", "it's", "--db", roles.url)
    with connected(roles.url) as connection:
        connection.connection.driver_connection.execute(done.stdout)  # as psql -f would
    with connected(roles.of(name)) as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM episodes WHERE number > 0").scalar_one() == 0

    assert done.exit_code == 0
    assert done.stdout.splitlines()[0 :: len(done.stdout.splitlines()) - 1] == ["BEGIN;", "COMMIT;"]
    assert "--apply runs it" in done.stderr


def test_it_applies_and_takes_back_and_says_how_much(line, roles):
    reader, recorder = roles.make(), roles.make()
    given = ("db", "grants", "--reader", reader, "--recorder", recorder, "--db", roles.url, "--apply")
    assert "Granted to 2 roles in" in line(*given).stdout

    items = line.items(*given, "--revoke")

    assert {one["applied"] for one in items} == {True}
    assert all(one["statement"].startswith(("REVOKE", "DROP POLICY")) for one in items)


def test_what_the_jobs_do_not_prevent_is_said(line, roles):
    reader, eraser = roles.make(), roles.make()
    of_one = line("db", "grants", "--reader", reader, "--project", "ours", "--db", roles.url)
    erasing = line("db", "grants", "--eraser", eraser, "--db", roles.url)
    taken = line("db", "grants", "--eraser", eraser, "--db", roles.url, "--revoke")

    assert "a role of one project reads the administrative logs whole" in " ".join(of_one.stderr.split())
    assert "delete texts without a record" in " ".join(erasing.stderr.split())
    assert "Not prevented" not in taken.stderr


def test_a_role_that_may_not_grant_is_told_so(line, roles):
    recorder = roles.granted("recorder")
    done = line("db", "grants", "--reader", roles.make(), "--db", recorder, "--apply")

    assert (done.exit_code, "must be owner" in done.stderr or "permission denied" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(("--reader", "x"), "no roles"), ((), "no roles")],
)
def test_a_sqlite_log_has_no_roles(line, arguments, words):
    line("init")
    line("db", "upgrade")
    done = line("db", "grants", *arguments)

    assert (done.exit_code, words in done.stderr) == (2, True)


def test_no_role_is_no_grant(line, roles):
    done = line("db", "grants", "--db", roles.url)

    assert (done.exit_code, "name a role" in done.stderr) == (2, True)
