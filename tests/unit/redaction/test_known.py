"""Secrets by their own form."""

import base64
import json

import pytest
from detect_secrets.plugins.github_token import GitHubTokenDetector

from spectrace.redaction.known import by_form


def found(text: str) -> list[str]:
    return [text[one.start : one.end] for one in by_form(text)]


def jwt(head: dict) -> str:
    part = base64.urlsafe_b64encode(json.dumps(head).encode()).rstrip(b"=").decode()
    return f"{part}.{part}.c2lnbmF0dXJl"


PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nAAAA==\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    "token",
    [
        "AKIA" + "A1" * 8,
        "ghp_" + "a1" * 18,
        "glpat-" + "a1" * 10,
        "xoxb-1234-5678-abcdef",
        "sk_live_" + "a1" * 12,
        "SG." + "a" * 22 + "." + "b" * 43,
        "AC" + "0a" * 16,
        "AIza" + "a1b2c" * 7,
        "sk-ant-api03-" + "a1" * 12,
        "hf_" + "aB" * 17,
        "github_pat_" + "a1" * 20,
        "12345678:" + "a" * 35,
        "M" + "a" * 23 + ".abcdef." + "b" * 27,
        jwt({"alg": "none"}),
        PEM,
    ],
)
def test_a_vendors_token_is_found_whole_wherever_it_stands(token):
    assert found(f"before {token} behind") == [token]


@pytest.mark.parametrize("text", ["APACHE2LICENSE", "skip-this-test-please", "eyJub3QuYQ.is.no", "sha256:" + "a1" * 32])
def test_what_only_begins_like_one_stays(text):
    assert found(text) == []


def test_a_private_key_that_is_cut_off_is_found_to_its_end():
    text = PEM[: PEM.index("\n-----END")]

    assert found(text) == [text]


def test_the_librarys_own_example_is_found_here_too():
    """The forms are the library's: what its detector yields, ours finds."""
    token = "ghu_" + "Z9" * 18

    assert (list(GitHubTokenDetector().analyze_string(token)) != [], found(token)) == (True, [token])
