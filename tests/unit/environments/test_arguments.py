import pytest

from spectrace.environments.arguments import InvalidArguments, exact_object


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{}", {}),
        ("", {}),
        (" \n", {}),
        ('{"id": 2512292042121000001}', {"id": 2512292042121000001}),
        ('{"a": {"b": [1.5, null]}}', {"a": {"b": [1.5, None]}}),
        ('{"a": "\\ud835 \\u0000"}', {"a": "\ud835 \x00"}),
    ],
)
def test_an_object_is_read_without_loss(text, value):
    assert exact_object(text) == value


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1, "a": 2}', "'a' twice"),
        ('{"x": {"a": 1, "a": 1}}', "'a' twice"),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": -Infinity}', "-Infinity is not JSON"),
        ('{"a": 1e999}', "1e999 is too large"),
        ('{"a": 1', "not JSON"),
        ('{"a": 1} tail', "not JSON"),
        ("[1]", "found list"),
        ('"text"', "found str"),
        ('{"a": ' + "9" * 5000 + "}", "4300 digits"),
        ('{"a":' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deep"),
    ],
)
def test_anything_that_would_lose_something_is_refused(text, why):
    with pytest.raises(InvalidArguments, match=why):
        exact_object(text)
