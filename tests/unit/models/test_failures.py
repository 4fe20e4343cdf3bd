import openai

from spectrace.models.failures import cut, failure_of
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
