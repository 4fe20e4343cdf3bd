"""Messages without secrets: what errors, warnings and progress repeat of a URL, a server's answer, a library's words.

What is shown is not recorded, so the placeholders' key is one of this moment: no file of the user's is touched to say
that something went wrong. Results on stdout are what the log holds, and pass as they are.
"""

from dataclasses import replace
from functools import cache

from spectrace.config import settings_here
from spectrace.errors import UsageError
from spectrace.redaction.redactor import Redactor
from spectrace.redaction.rules import Rules
from spectrace.redaction.secret_key import SecretKey


def without_secrets(words: str) -> str:
    """Return a message with placeholders in the place of secrets."""
    return _redactor().fresh().text(words)


@cache
def _redactor() -> Redactor:
    """Return who redacts messages: by the user's rules too, unless it is those that are wrong or cannot be read."""
    try:
        rules = settings_here().redaction
    except (UsageError, OSError):  # the working directory itself may be gone
        rules = Rules()
    return Redactor(SecretKey.ephemeral(), replace(rules, enabled=True))
