import openai
import pytest

from spectrace.errors import ModelFailed
from spectrace.models.connection import _HTTP
from spectrace.models.failures import broken_off, broken_reply, cut, failure_of, said_error, too_slow
from spectrace.models.keys import endpoint


def test_a_long_text_is_cut_on_one_line_and_says_by_how_much():
    assert cut("a\n b" + "c" * 10, 5) == "a bcc... (8 more characters)"


def test_a_short_text_is_not_cut():
    assert cut("a b", 3) == "a b"


def test_a_time_limit_of_ours_is_a_timeout():
    failure = failure_of(TimeoutError(), "m", endpoint("http://box/v1"))

    assert (failure.kind, failure.again) == ("timeout", False)


def test_an_error_that_nobody_foresaw_is_invalid():
    request = openai.DefaultAsyncHttpxClient().build_request("GET", "http://box")

    failure = failure_of(openai.APIError("odd", request, body=None), "m", endpoint("http://box/v1"))

    assert (failure.kind, failure.message) == ("invalid", "The reply of http://box/v1 cannot be read: odd.")


@pytest.mark.parametrize(
    ("status", "kind", "again"),
    [
        (302, "refused", False),
        (400, "refused", False),
        (401, "refused", False),
        (408, "timeout", True),
        (409, "refused", True),
        (429, "busy", True),
        (500, "server", True),
        (529, "server", True),
    ],
)
def test_a_status_means_the_providers_trouble_or_this_calls_own(status, kind, again):
    response = _HTTP.Response(status, text="No.", request=_HTTP.Request("GET", "http://box"))

    failure = failure_of(openai.APIStatusError("x", response=response, body=None), "m", endpoint("http://box/v1"))

    assert (failure.kind, failure.again) == (kind, again)


def test_trouble_of_the_provider_is_told_by_its_kind():
    broken = broken_off(ConnectionError("gone"), "m", endpoint("http://box/v1"))
    words = said_error("upstream died", "m", endpoint("http://box/v1"))
    slow = too_slow("m", endpoint("http://box/v1"))
    invalid = broken_reply(ValueError("it has no choices"), "{}", endpoint("http://box/v1"))

    assert {failure.kind for failure in (broken, words, slow)} <= ModelFailed.PROVIDER_TROUBLE
    assert invalid.kind not in ModelFailed.PROVIDER_TROUBLE


@pytest.mark.parametrize(
    ("key", "url", "todo"),
    [
        (None, "https://api.openai.com/v1", "No key was sent: set OPENAI_API_KEY, or name one with key_env"),
        ("sk-1", "https://api.openai.com/v1", "in spectrace.toml, or OPENAI_API_KEY where it names none."),
        (None, "http://box/v1", "No key was sent: name one with key_env or key_file of this model"),
    ],
)
def test_a_key_that_is_not_accepted_is_named_by_its_variable_where_it_has_one(key, url, todo):
    response = _HTTP.Response(401, text="No.", request=_HTTP.Request("GET", url))

    failure = failure_of(openai.APIStatusError("x", response=response, body=None), "m", endpoint(url, key))

    assert todo in failure.message
