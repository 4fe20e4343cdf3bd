"""What looks like a placeholder and is none, and what only reminds of one."""

import json

import pytest

from spectrace.redaction.mangled import finder
from spectrace.redaction.personal import KINDS

REAL = "REDACTED-secret-0906166776d2"
find = finder((*KINDS, "employee"))


@pytest.mark.parametrize(
    "text",
    [
        REAL.upper(),
        REAL.lower(),
        "Redacted-Secret-0906166776D2",
        REAL[:-1],
        REAL[:-3],
        REAL.replace("-s", " -s"),
        REAL.replace("0616", "06 16"),
        REAL.replace("0616", "06\u200b16"),
        REAL.replace("secret", "sec\nret"),
        REAL.replace("-", "_"),
        REAL.replace("-", "\u2011"),
        "redacted-employee-0906166776d2",
        "REDACTED-secret-09061667761",
        f"before {REAL.upper()} after",
    ],
)
@pytest.mark.parametrize(
    "written", [str, lambda text: json.dumps({"a": text}), lambda text: json.dumps({"a": json.dumps([text])})]
)
def test_a_placeholder_in_another_spelling_is_found_at_any_depth(text, written):
    assert len(find(written(text))) > 0


def test_a_placeholder_that_escapes_hide_is_found_since_nobody_would_put_it_back():
    assert find('{"a": "\\u0052' + REAL[1:] + '"}') == (REAL,)


@pytest.mark.parametrize(
    "text",
    [
        REAL,
        f"{REAL}{REAL}",
        json.dumps({"a": json.dumps({"b": f"x\n{REAL}"})}),
        "REDACTED-secret-",
        "the redacted secret 0906166776d2",
        "redacted-card-20261201.pdf",
        "redacted-email-2026-12-01.eml",
        "redacted-phone-4915123456789",
        "We redacted card 4111 1111 1111 1111 expires 12/27",
        "redacted-report-3f9a12c0b4d1",
        "redacted by decade-old facade",
        "un-redacted-copy-20261201",
        "[REDACTED]",
        "",
    ],
)
def test_what_only_reminds_of_one_is_none(text):
    assert find(text) == ()
