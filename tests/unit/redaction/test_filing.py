"""Names that hold a secret are refused, without being said again."""

import pytest

from spectrace.errors import UsageError
from spectrace.redaction.filing import require_plain
from spectrace.redaction.rules import Rules

TOKEN = "ghp_" + "a1B2" * 9


@pytest.mark.parametrize("name", [TOKEN, f"nightly-{TOKEN}", "password=hunter2Zq9", "https://bob:hunter2Zq9@h/x"])
def test_a_name_with_a_secret_is_refused_and_the_secret_is_not_said(name):
    with pytest.raises(UsageError, match=r"the run .*\*\*\*.*Nothing was recorded.*allow") as caught:
        require_plain(Rules(), {"the project": "default", "the run": name})

    assert (TOKEN in str(caught.value), "hunter2Zq9" in str(caught.value)) == (False, False)


@pytest.mark.parametrize(
    "name",
    [
        "default",
        "",
        None,
        "nightly 2026-12-01",
        "k=6",
        "tau2:airline/17",
        "reset-password",
        "password reset",
        "3f9a12c0b4d13f9a12c0b4d13f9a12c0b4d13f9a",
        "0b8f6a52-7a52-4c6f-9d1c-0f5b3f9a12c0",
        "customer/2026/11/30/0001",
        "[mobile_data_issue]user_abroad_roaming_enabled_off[PERSONA:None]",
        "REDACTED-secret-0123456789ab",
    ],
)
def test_what_people_call_their_projects_runs_and_tasks_is_no_secret(name):
    require_plain(Rules(), {"the project": name})


def test_personal_data_is_refused_where_the_rules_name_it_and_nothing_where_they_are_off_or_allow_it():
    named = {"the task id": "jane.roe@example.org"}

    require_plain(Rules(), named)
    require_plain(Rules(enabled=False), {"the run": TOKEN})
    require_plain(Rules(allow=frozenset({TOKEN})), {"the run": TOKEN})
    with pytest.raises(UsageError, match=r"the task id '\*\*\*'"):
        require_plain(Rules(personal=("email",)), named)
