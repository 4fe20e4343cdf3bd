"""Secrets in the forms of everyday."""

import pytest

from spectrace.redaction.everyday import by_custom
from tests.redaction import redactor

S = "Tr0ub4dor&3x"
T = "9fK2mQ7xLp4Zr8Vt1Wb6"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"The admin password is {S} please keep it", S),
        (f"your api key is {T}.", T),
        (f"the password for bob@h is '{S}'", S),
        (f"Use the API key {T} for it", T),
        (f'token "{T}"', T),
        (f"token -> {T}", T),
        (f"password | {S}", S),
        ("Your PIN is 4921", "4921"),
        ("Your one-time code is 492113", "492113"),
        (f"CREATE USER bob IDENTIFIED BY '{S}'", S),
        (f"CREATE USER bob WITH PASSWORD '{S}'", S),
        ("CREATE USER bob WITH PASSWORD 'plain'", "plain"),
        (f"machine h login bob password {S}", S),
        (f"curl -u bob:{S} https://x", S),
        (f"curl --user 'bob:{S}' https://x", S),
        (f"sshpass -p {S} ssh h", S),
        (f"mysql -u root -p{S} db", S),
        (f"sqlplus scott/{S}@orcl", S),
        (f"jdbc:oracle:thin:scott/{S}@//h:1521/x", S),
        (f'ConvertTo-SecureString "{S}" -AsPlainText', S),
        (f"mot de passe : {S}", S),
        (f"密码:{S}", S),
        (f"- name: DB_PASSWORD\n  value: {S}", S),
        (f"{{'name': 'DB_PASSWORD', 'value': '{S}'}}", S),
        (f"['mysql', '--password', '{S}']", S),
        (f"[('x-api-key', '{T}')]", T),
        (f"https://x/?next=%2Fcb%3Faccess_token%3D{T}", T),
    ],
)
def test_an_everyday_form_of_a_secret_is_found(text, secret):
    assert {text[one.start : one.end] for one in by_custom(text, frozenset())} == {secret}
    assert secret not in redactor().text(text)


@pytest.mark.parametrize(
    "text",
    [
        "The password is required and the token is invalid",
        "The password is 8 characters long",
        "your password is case-sensitive",
        "the secret is out",
        "The PIN is on the back",
        "The token was 128 letters long",
        "docker run -u 1000:1000 image",
        "curl -u 1000:1000 h",
        "mysql -u root -p db",
        "WITH PASSWORD 'REDACTED-secret-0123456789ab'",
        "- name: SIZE\n  value: 9fK2mQ7x",
        "['password', 'username']",
        "order W1234567 is #12345-6, key 2 of 3",
    ],
)
def test_what_is_said_about_secrets_stays(text):
    assert redactor().text(text) == text


@pytest.mark.parametrize(
    "text",
    [
        f"contraseña: {S}",
        "".join(chr(ord(letter) + 0xFEE0) for letter in "password:") + S,
        f"password:\u00a0{S}",
        f"password\uff1a{S}",
        f"password: “{S}”",
    ],
)
def test_accents_and_wide_letters_hide_no_name(text):
    assert S not in redactor().text(text)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"hvs.{T * 4}", T * 4),
        (f"https://discord.com/api/webhooks/123456789012345678/{T * 3}", T * 3),
        (f"root:$6$saltsalt${T * 4}:19000:0:99999", T * 4),
        (f"bob:$apr1$abcd${T}", T),
        ("AKIAIOSFODNN7EXAMPLQ\nwJalrXUtnFEMI/K7MDENG/bPxRfiCYzzMPLEKEYa", "wJalrXUtnFEMI"),
    ],
)
def test_what_everyday_services_hand_out_is_known_by_its_form(text, secret):
    assert secret not in redactor().text(text)
