"""Placeholders for secrets, and back."""

import base64
import json
import re
import time
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spectrace.redaction.findings import PLACEHOLDER
from spectrace.redaction.redactor import Redactor
from spectrace.redaction.rules import Rules
from spectrace.redaction.secret_key import SecretKey
from tests.redaction import PASSWORD, redactor

SAID = f"password={PASSWORD}"
TOKEN = "ghp_" + "a1B2" * 9
KEY_ID = "AKIAIOSFODNN7EXAMPLQ"


def test_the_same_secret_has_the_same_placeholder_wherever_it_stands():
    one = redactor()

    placeholders = [PLACEHOLDER.search(one.fresh().text(text))[0] for text in (SAID, json.dumps({"api_key": PASSWORD}))]

    assert placeholders[0] == placeholders[1]


def test_another_key_makes_other_placeholders():
    assert redactor().text(SAID) != Redactor(SecretKey(b"another key of that length, known")).text(SAID)


def test_a_text_without_secrets_is_the_very_same_object():
    text = "W200 is cancelled, the password field is required"

    assert redactor().text(text) is text


@pytest.mark.parametrize(
    "written",
    [
        f"it was {PASSWORD}, she said",
        json.dumps({"note": f"x{PASSWORD}x"}),
        base64.b64encode(f"user:{PASSWORD}".encode()).decode(),
        base64.urlsafe_b64encode(f"??>{PASSWORD}".encode()).decode().rstrip("="),
        json.dumps({"a": json.dumps({"b": json.dumps(PASSWORD)})}),
        json.dumps({"note": "".join(f"\\u{ord(letter):04x}" for letter in PASSWORD)}).replace("\\\\", "\\"),
    ],
)
def test_what_was_seen_once_is_known_again_however_it_is_written(written):
    one = redactor()
    one.text(SAID)

    told = one.text(written)

    assert (PLACEHOLDER.search(told) is not None, PASSWORD in told) == (True, False)


def test_it_is_known_again_as_a_part_of_a_url():
    secret, one = "p&ss w/rd-9", redactor()
    one.text(json.dumps({"password": secret}))

    assert quote(secret, safe="") not in one.text(f"see /login?next={quote(secret, safe='')}")


def test_a_short_word_is_replaced_where_it_stands_and_looked_for_nowhere():
    one = redactor()

    assert "monday" not in one.text('{"password": "monday"}')
    assert one.text("see you on monday") == "see you on monday"


def test_another_episode_knows_nothing_of_the_first_ones_secrets():
    one = redactor()
    told = one.text(SAID)
    other = one.fresh()

    assert (other.text(PASSWORD), other.restore(told), other.unknown(told)) == (
        PASSWORD,
        told,
        (PLACEHOLDER.search(told)[0],),
    )


def test_a_message_that_was_let_through_stays_as_it_was_told_and_the_next_one_does_not():
    """The rule of the module: what is recorded is never changed, so prompts and replay agree."""
    one = redactor()

    first, then = one.text(PASSWORD), (one.text(SAID), one.text(PASSWORD))

    assert (first, PASSWORD in then[1]) == (PASSWORD, False)


@pytest.mark.parametrize(
    "text",
    [
        SAID,
        json.dumps({"password": 'qu"ote\\d and\nbroken 1'}),
        json.dumps({"arguments": json.dumps({"secret": 'a"b\\c1', "pin_password": 123456})}),
        "postgresql://app:pw1234@db/prod?token=abc1 and Authorization: Bearer xyz123",
        f"body {base64.b64encode(SAID.encode()).decode()} end",
    ],
)
def test_what_is_put_back_is_the_text_itself(text):
    one = redactor()
    told = one.text(text)

    assert (told != text, one.restore(told)) == (True, text)


def test_escapes_that_nobody_needs_come_back_as_the_same_value():
    one, text = redactor(), '{"password": "\\u0068unter2-9"}'

    assert json.loads(one.restore(one.text(text))) == json.loads(text)


def test_a_value_is_put_back_where_the_model_wrote_the_placeholder_itself():
    one = redactor()
    placeholder = PLACEHOLDER.search(one.text(json.dumps({"password": 'a"b-123'})))[0]

    assert json.loads(one.restore(json.dumps({"to": f"<{placeholder}>"}))) == {"to": '<a"b-123>'}


def test_a_placeholder_that_somebody_planted_stays_and_is_unknown():
    planted = "password=REDACTED-secret-0123456789ab"
    one = redactor()

    assert (one.text(planted), one.unknown(planted)) == (planted, ("REDACTED-secret-0123456789ab",))


def test_a_label_is_told_by_its_name():
    one = redactor()

    assert (one.named("api_key", "zz-1"), one.named("team", "zz-1")) == (one.placeholder("secret", "zz-1"), "zz-1")


@pytest.mark.parametrize(
    "secret", ['hunter"2Zq9', "my\\key9hunterZ", 'a"b\\c9d', "tab\there9Z", "line\nhere9Z", "é9zq-zz"]
)
@pytest.mark.parametrize("name", ["password", "api_key"])
def test_quotes_and_backslashes_do_not_hide_a_value_from_its_name(name, secret):
    one = redactor()
    told = one.named(name, secret)

    assert (PLACEHOLDER.fullmatch(told) is not None, one.restore(told)) == (True, secret)


@pytest.mark.parametrize("value", ["vvvv", "v", "", 'a "quoted" one', "back\\slash", "a" * 60])
@pytest.mark.parametrize("name", [KEY_ID, TOKEN, f'x"{TOKEN}', "te\\am"])
def test_a_name_that_is_a_secret_itself_leaves_its_value_alone(name, value):
    assert redactor().named(name, value) == value


def test_a_name_with_a_quote_is_still_a_name():
    one = redactor()

    assert one.named('my "password', "hunter2Zq9") == one.placeholder("secret", "hunter2Zq9")


def test_a_value_that_is_json_itself_is_redacted_inside():
    told = redactor().named("settings", json.dumps({"password": "hunter2Zq9", "port": 5432}))

    assert PLACEHOLDER.fullmatch(json.loads(told)["password"]) is not None
    assert json.loads(told)["port"] == 5432


# -- properties --------------------------------------------------------------------------------------------------------

names = st.sampled_from(["password", "api_key", "user", "token", "note", "Authorization", "headers", "value", "name"])
secrets = st.one_of(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=30), st.from_regex(r"[a-zA-Z0-9]{8,20}", fullmatch=True)
)
values = st.recursive(
    st.one_of(secrets, st.integers(), st.none(), st.booleans()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=4), inner.map(json.dumps)
    ),
    max_leaves=8,
)
pieces = st.one_of(
    st.sampled_from(["password=", "token: ", '"secret": "', "Authorization: Bearer ", "://u:", "@h/", "?key=", "&"]),
    st.sampled_from([" ", "\n", '"', "'", "\\", "{", "}", "eyJ", "sk-", "-----BEGIN PRIVATE KEY-----", "--password "]),
    secrets,
)
texts = st.one_of(
    st.lists(pieces, max_size=8).map("".join),
    values.map(json.dumps),
    values.map(lambda value: json.dumps(value, ensure_ascii=False)),
    secrets.map(lambda text: base64.b64encode(f"password={text}".encode()).decode()),
)
plain = texts.filter(lambda text: "REDACTED-" not in text)


@given(texts)
@example("password=-----BEGIN PRIVATE KEY-----@h/")
def test_redacting_twice_is_redacting_once(text):
    told = redactor().text(text)

    assert redactor().text(told) == told


def meant(text: str) -> object:
    """Return what a text says as JSON at every depth: a control character there comes back as an escape."""
    try:
        return told(json.loads(text, strict=False))
    except ValueError:
        return text


def told(value: object) -> object:
    match value:
        case str():
            return meant(value) if value[:1] in {"{", "["} else value
        case list():
            return [told(item) for item in value]
        case dict():
            return {key: told(item) for key, item in value.items()}
        case _:
            return value


@given(plain)
@example('["{\\"Password\\":\\"00\\u001f\\"}"]')
@example("000000000password=00000000")
@example('{"password": "0000000\\"", "api_key": {"user": "0000000"}}')
def test_restoring_gives_the_text_back(text):
    one = redactor()
    back = one.restore(one.text(text))

    assert back == text or meant(back) == meant(text)


@given(values)
def test_json_stays_json_and_is_equal_outside_the_places_that_were_redacted(value):
    text = json.dumps(value)
    told = redactor().text(text)

    json.loads(told)
    at = 0
    for part in PLACEHOLDER.split(told):
        bare = part.strip('\\"') or part  # of a number the quotes are new
        at = text.index(bare, at) + len(bare)


@given(plain)
def test_what_was_replaced_by_rule_is_no_longer_in_the_text(text):
    one = redactor(Rules())
    told = one.text(text)

    outside = PLACEHOLDER.sub("", told)
    assert all(value not in outside for value in one._searched)


HOSTILE = [
    *("password=", 'password="', "Authorization: ", "?key=", "eyJhbGciOiJIUzI1NiJ9.", "sk-", "postgres://u:", "://"),
    *("QUJD" * 5, "QUJD" * 5 + " ", "-----BEGIN PRIVATE KEY-----", '{"password":', "[", '\\"', "xoxb-1-", "12345678:"),
    *("password:      ", "a.b-", "password=x_", "--token ", "glpat-", "AC0", "REDACTED-secret-"),
    *("password is ", "<password>", '<a b="', "<dt>", "curl -u a:", "mysql a ", "'--token', ", "name: token\n value: "),
    *(
        "PASSWORD=a,",
        "\nPASSWORD=a ",
        "password:\n ",
        "[['token',",
        '["--token",',
        '{"passwords":',
        '{"kty":',
        "$6$",
        "AKIA",
    ),
    *(
        '[["token","',
        "password  ",
        "REDACTED-secret-0123456789ab",
        "password=REDACTED-secret-0123456789ab",
        "a%3d",
        "Private-Lines: 1\n",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_text_ten_times_as_long_takes_about_ten_times_as_long(piece):
    """A ratio, so that the machine says nothing; a square would be a hundred."""

    def took_s(length: int) -> float:
        text = piece * (length // len(piece))
        best = min(_timed(text) for _ in range(3))
        return max(best, 0.001)

    assert took_s(200_000) / took_s(20_000) < 40


def _timed(text: str) -> float:
    one = redactor()
    begun = time.perf_counter()
    one.restore(one.text(text))
    return time.perf_counter() - begun


def test_many_distinct_secrets_are_looked_for_elsewhere_up_to_a_bound():
    one = redactor()
    one.text(" ".join(f"password=secret-{number:05}" for number in range(2_000)))

    assert len(one._searched) == 512
    assert re.search(r"secret-00000", one.text("secret-00000 again")) is None


any_texts = st.text(st.one_of(st.sampled_from('"\\{}[]:, =\n'), st.characters()), max_size=40)


@given(st.one_of(st.sampled_from(["password", "team", KEY_ID, "Authorization"]), any_texts), any_texts)
@example("password", "\ud800")
@example("a", "\\")
def test_whatever_the_texts_are_the_value_comes_back(name, value):
    one = redactor()

    assert one.restore(one.named(name, value)) == value
