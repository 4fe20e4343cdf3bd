"""The key of the placeholders."""

import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from spectrace.errors import UsageError
from spectrace.redaction.rules import Rules
from spectrace.redaction.secret_key import SecretKey, default_file, key_for

LONG = "0123456789abcdef" * 2


def test_a_key_is_made_on_first_use_and_only_its_owner_reads_it(tmp_path):
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "config")}

    first = key_for(Rules(), environ)

    file = tmp_path / "config" / "spectrace" / "redaction.key"
    assert (file, stat.S_IMODE(file.stat().st_mode), stat.S_IMODE(file.parent.stat().st_mode)) == (
        default_file(environ),
        0o600,
        0o700,
    )
    assert key_for(Rules(), environ).id == first.id


def test_those_who_make_it_at_once_all_use_the_same_key(tmp_path):
    environ = {"XDG_CONFIG_HOME": str(tmp_path)}

    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(lambda _: key_for(Rules(), environ).id, range(16)))

    assert (len(ids), [path.name for path in (tmp_path / "spectrace").iterdir()]) == (1, ["redaction.key"])


def test_a_key_that_others_can_read_is_refused(tmp_path):
    file = tmp_path / "key"
    file.write_text(LONG)
    file.chmod(0o640)

    with pytest.raises(UsageError, match=r"can be read by others \(mode 640\): chmod 600"):
        key_for(Rules(key_file=file), {})


def test_a_named_file_that_is_missing_is_not_made(tmp_path):
    with pytest.raises(UsageError, match="which is not there"):
        key_for(Rules(key_file=tmp_path / "key"), {})


def test_a_short_key_is_refused(tmp_path):
    file = tmp_path / "key"
    file.write_text("short")
    file.chmod(0o600)

    with pytest.raises(UsageError, match="at least 32 random characters, found 5"):
        key_for(Rules(key_file=file), {})


def test_a_variable_holds_the_key_and_is_not_shown():
    assert key_for(Rules(key_env="K"), {"K": LONG}).id == SecretKey(LONG.encode()).id
    with pytest.raises(UsageError) as caught:
        key_for(Rules(key_env="K"), {"K": "hunter2"})
    assert ("has 7 characters" in str(caught.value), "hunter2" in str(caught.value)) == (True, False)


def test_a_key_shows_its_id_alone():
    key = SecretKey(LONG.encode())

    assert (repr(key), LONG in repr(key)) == (f"SecretKey({key.id})", False)


def test_another_key_gives_another_tag_and_another_id():
    keys = [SecretKey(LONG.encode()), SecretKey(LONG.encode() + b"x"), SecretKey.ephemeral()]

    assert (len({key.id for key in keys}), len({key.tag("a") for key in keys})) == (3, 3)
