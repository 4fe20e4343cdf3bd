"""From settings to a redactor."""

from dataclasses import replace

from spectrace.redaction.opening import open_for, open_redactor
from spectrace.redaction.rules import VERSION, Rules
from tests.episodes import recorded_events

ENVIRON = {"KEY": "0123456789abcdef" * 2}
RULES = Rules(key_env="KEY")


def test_rules_that_redact_nothing_need_no_key():
    assert open_redactor(Rules(enabled=False, key_env="MISSING"), {}) is None


def test_what_is_recorded_of_it_names_version_key_and_rules():
    redactor = open_redactor(RULES, ENVIRON)

    assert redactor.version == f"{VERSION} key {redactor.key_id} rules {RULES.digest}"


def test_a_record_that_was_not_redacted_is_read_without():
    first = recorded_events()[0].body
    then = replace(first, versions=replace(first.versions, redactor="1 key a rules b"))

    assert (open_for(first, RULES, {}), open_for(then, RULES, ENVIRON) is None) == (None, False)
