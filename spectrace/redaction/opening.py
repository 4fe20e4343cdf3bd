"""From settings to a redactor: the key is read, or made, when somebody is about to record."""

from collections.abc import Mapping

from spectrace.core.events import EpisodeStarted
from spectrace.redaction.redactor import Redactor
from spectrace.redaction.rules import Rules
from spectrace.redaction.secret_key import key_for


def open_redactor(rules: Rules, environ: Mapping[str, str]) -> Redactor | None:
    """Return who redacts by these rules; None where they say that nothing is redacted."""
    return Redactor(key_for(rules, environ), rules) if rules.enabled else None


def open_for(first: object, rules: Rules, environ: Mapping[str, str]) -> Redactor | None:
    """Return who redacts what a fresh environment answers to an episode's record; None where that was not redacted."""
    if not isinstance(first, EpisodeStarted) or first.versions.redactor is None:
        return None
    return open_redactor(rules, environ)
