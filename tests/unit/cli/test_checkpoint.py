"""`spectrace checkpoint`: keys, checkpoints, cosignatures and proofs from the command line, with their exit codes."""

import signal
import subprocess
import sys
import time

import pytest

from spectrace.core.notes import parse_key
from spectrace.store.sql import open_store
from tests.command_line import Line, in_a_directory
from tests.damage import damage
from tests.shop_log import recorded


@pytest.fixture
def line(tmp_path, monkeypatch) -> Line:
    return in_a_directory(monkeypatch, tmp_path)


@pytest.fixture
def log(line, tmp_path) -> str:
    """A log with an episode, and a key."""
    store = open_store(str(tmp_path / "spectrace.db"))
    episode = recorded(store)
    store.close()
    assert line("checkpoint", "key", "log", "-o", "log.key").exit_code == 0
    return episode


CREATE = ("checkpoint", "create", "-o", "log.checkpoint", "--key", "log.key")
VERIFY = ("checkpoint", "verify", "log.checkpoint", "--key", "log.key.pub")


def test_a_key_is_made_and_its_secret_never_shown(line, tmp_path):
    (item,) = line.items("checkpoint", "key", "log", "-o", "log.key")
    shown = line("checkpoint", "key", "other", "-o", "other.key").output

    assert parse_key(item["key"]).cosigner == parse_key(item["cosigner"])
    assert "PRIVATE" not in shown
    assert (tmp_path / "log.key").read_text().strip() not in shown
    assert line("checkpoint", "key", "log", "-o", "log.key").exit_code == 2


def test_a_checkpoint_is_made_and_verified_and_says_its_size(line, log):
    (made,) = line.items(*CREATE)
    (verified,) = line.items(*VERIFY)

    assert (made["signed"], made["size"], made["added"]) == (True, 2, 2)
    assert verified["result"] == "valid"
    assert made["root"] in verified["detail"]


def test_a_damaged_log_is_not_signed(line, log, tmp_path):
    damage(tmp_path / "spectrace.db", "UPDATE events SET at = 1 WHERE key % 1048576 = 5 AND key > 0")
    line("db", "upgrade")  # puts the triggers back
    (item,) = line.items(*CREATE, code=1)

    assert (item["signed"], item["episode"], item["first_bad_seq"]) == (False, log, 5)
    assert not (tmp_path / "log.checkpoint").exists()
    assert line(*CREATE, "--force").exit_code == 0
    line("checkpoint", "key", "witness", "-o", "witness.key")
    cosign = ("checkpoint", "cosign", "log.checkpoint", "--key", "witness.key", "--log-key", "log.key.pub")
    assert [line(*cosign).exit_code, line(*cosign, "--force").exit_code] == [1, 0]


def test_who_verifies_with_a_forced_checkpoint_is_told(line, log, tmp_path):
    damage(tmp_path / "spectrace.db", "UPDATE events SET at = 1 WHERE key % 1048576 = 5 AND key > 0")
    line("db", "upgrade")
    line(*CREATE, "--force")
    store = open_store(str(tmp_path / "spectrace.db"))
    other = recorded(store)
    store.close()
    items = line.items("verify", other, "--checkpoint", "log.checkpoint", "--key", "log.key.pub", code=3)
    (verified,) = line.items(*VERIFY)

    assert [(one["episode"], one["result"]) for one in items] == [(other, "consistent"), ("log.checkpoint", "unknown")]
    assert "signed by force: 1 not verified" in verified["detail"]


def test_a_checkpoint_is_cosigned_elsewhere_and_a_fork_is_not(line, log, tmp_path):
    line(*CREATE)
    line("checkpoint", "key", "witness", "-o", "witness.key")
    cosign = ("checkpoint", "cosign", "log.checkpoint", "--key", "witness.key", "--log-key", "log.key.pub")
    (item,) = line.items(*cosign)

    assert (item["cosigned"], item["before"]) == (True, None)
    assert line(*VERIFY, "--cosigner", "witness.key.pub").exit_code == 0
    other = open_store(str(tmp_path / "other.db"))
    recorded(other)
    other.close()
    line("checkpoint", "create", "-o", "other.checkpoint", "--key", "log.key", "--db", "other.db")
    refused = line("checkpoint", "cosign", "other.checkpoint", *cosign[3:], "--after", "log.checkpoint")
    assert (refused.exit_code, "of another log" in refused.output) == (1, True)


def test_a_second_history_under_the_key_is_cosigned_by_name_only(line, log, tmp_path):
    (made,) = line.items(*CREATE)
    line("checkpoint", "key", "witness", "-o", "witness.key")
    cosign = ("checkpoint", "cosign", "log.checkpoint", "--key", "witness.key", "--log-key", "log.key.pub")
    assert line(*cosign).exit_code == 0
    other = open_store(str(tmp_path / "other.db"))
    recorded(other)
    other.close()
    (forged,) = line.items("checkpoint", "create", "-o", "forged", "--key", "log.key", "--db", "other.db")
    (refused,) = line.items("checkpoint", "cosign", "forged", *cosign[3:], code=1)
    log_s, whole = ("--origin", made["origin"]), ("verify", "--all", "--db", "other.db", "--checkpoint", "forged")

    assert (refused["cosigned"], refused["detail"].endswith(f"--origin {forged['origin']}")) == (False, True)
    assert line("checkpoint", "cosign", "forged", *cosign[3:], *log_s).exit_code == 1
    assert line("checkpoint", "cosign", "forged", *cosign[3:], "--origin", forged["origin"]).exit_code == 0
    assert line("checkpoint", "verify", "forged", "--key", "log.key.pub", *log_s).exit_code == 3
    assert line(*VERIFY, *log_s).exit_code == 0
    assert line(*whole, "--key", "log.key.pub", *log_s).exit_code == 3
    assert line(*whole, "--key", "log.key.pub").exit_code == 0
    assert line("verify", "--all", *log_s).exit_code == 2


def test_an_episode_is_proved_to_who_has_the_key_alone(line, log, tmp_path):
    line(*CREATE)
    assert line("checkpoint", "prove", log[:6], "--checkpoint", "log.checkpoint", "-o", "proof").exit_code == 0
    (item,) = line.items(*VERIFY, "--proof", "proof")

    assert (item["result"], log in item["detail"]) == ("valid", True)
    (tmp_path / "proof").write_text((tmp_path / "proof").read_text().replace("index 1", "index 0"))
    assert line(*VERIFY, "--proof", "proof").exit_code == 1


def test_a_checkpoint_is_proved_to_go_on_from_another(line, log, tmp_path):
    line(*CREATE)
    old = tmp_path / "old"
    old.write_bytes((tmp_path / "log.checkpoint").read_bytes())
    store = open_store(str(tmp_path / "spectrace.db"))
    recorded(store)
    store.close()
    line(*CREATE)
    line("checkpoint", "prove", "--from", "old", "--checkpoint", "log.checkpoint", "-o", "proof")

    assert line("checkpoint", "verify", "old", "--key", "log.key.pub", "--proof", "proof").exit_code == 0


@pytest.mark.parametrize(
    ("alter", "code"),
    [
        (lambda path: path.write_text(path.read_text().replace("\nat ", "\nat 1")), 3),
        (lambda path: path.write_text("no checkpoint"), 3),
        (lambda path: path.with_name("log.checkpoint.leaves").write_text("[]\n"), 1),
        (lambda path: path.with_name("log.checkpoint.leaves").unlink(), 0),
    ],
)
def test_what_is_altered_is_told_by_the_exit_code(line, log, tmp_path, alter, code):
    line(*CREATE)
    alter(tmp_path / "log.checkpoint")

    assert line(*VERIFY).exit_code == code


def test_another_s_key_is_unknown(line, log):
    line(*CREATE)
    line("checkpoint", "key", "log", "-o", "another.key")

    assert line("checkpoint", "verify", "log.checkpoint", "--key", "another.key.pub").exit_code == 3
    assert line(*VERIFY, "--cosigner", "another.key.pub").exit_code == 3


@pytest.mark.slow
def test_a_schedule_goes_on_until_ctrl_c_and_leaves_whole_files(line, log, tmp_path):
    program = [sys.executable, "-m", "spectrace", *CREATE, "--every", "1s"]
    process = subprocess.Popen(program, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 30
    while not (tmp_path / "log.checkpoint").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    first = (tmp_path / "log.checkpoint").read_bytes()
    while (tmp_path / "log.checkpoint").read_bytes() == first and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=20)

    assert process.returncode == 130, said
    assert (tmp_path / "log.checkpoint").read_bytes() != first
    assert line(*VERIFY).exit_code == 0
