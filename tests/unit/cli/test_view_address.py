import pytest

from spectrace.cli.view_address import allowed_hosts
from spectrace.errors import UsageError

ANY = "0.0.0.0"  # noqa: S104 - what is refused
PROVIDER = 'client_id = "c"\nclient_secret = "s"\nserver_metadata_url = "https://id.example.org/.well-known/x"\n'
LOGIN = (
    '[auth]\nredirect_uri = "https://log.example.org/oauth2callback"\n'
    f'cookie_secret = "{"0123456789abcdef" * 2}"\n{PROVIDER}'
)


@pytest.fixture
def secrets(tmp_path, monkeypatch):
    """A function that writes secrets.toml into the working directory."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(tmp_path)

    def write(text, folder=tmp_path):
        (folder / ".streamlit").mkdir(exist_ok=True)
        (folder / ".streamlit" / "secrets.toml").write_text(text)

    return write


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.9.1", "::1", "localhost"])
def test_on_this_machine_nothing_need_be_configured_and_only_its_names_are_answered(secrets, address):
    hosts = allowed_hosts(address)

    assert {"127.0.0.1", "localhost", "::1", address} <= set(hosts)
    assert "*" not in "".join(hosts)


@pytest.mark.parametrize("address", [ANY, "::", "192.0.2.7", "log.example.org", "", "*", "127.0.0.1.example.org"])
def test_elsewhere_a_login_is_asked_for(secrets, address):
    with pytest.raises(UsageError, match=r"listens on 127\.0\.0\.1 only.*\[auth\]"):
        allowed_hosts(address)


def test_with_a_login_it_answers_to_the_name_that_people_come_by(secrets):
    pytest.importorskip("authlib")
    secrets(LOGIN)

    assert allowed_hosts(ANY) == ["log.example.org"]
    assert allowed_hosts("192.0.2.7") == ["log.example.org", "192.0.2.7"]


def test_a_provider_may_have_a_name_and_the_file_may_be_the_user_s(secrets, tmp_path):
    pytest.importorskip("authlib")
    secrets(LOGIN.replace(PROVIDER, f"[auth.corp]\n{PROVIDER}"), tmp_path / "home")

    assert allowed_hosts(ANY) == ["log.example.org"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[auth]\n", "redirect_uri, cookie_secret, client_id"),
        (LOGIN.replace('client_secret = "s"\n', ""), "lacks client_secret"),
        (LOGIN.replace("0123456789abcdef", "x"), "fewer than 32 characters"),
        ("[auth", "cannot be read"),
        ("[other]\nx = 1\n", "listens on"),
    ],
)
def test_half_a_login_is_none(secrets, text, words):
    secrets(text)
    with pytest.raises(UsageError, match=words):
        allowed_hosts(ANY)


def test_the_command_says_so_before_anything_starts(secrets, tmp_path):
    from tests.command_line import Line

    done = Line()("view", "--address", ANY, "--db", str(tmp_path / "none.db"))

    assert (done.exit_code, "configure a login" in done.stderr) == (2, True)
