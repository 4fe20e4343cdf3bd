"""No dialogue with the protocol breaks a rule of the audit, wherever it is broken off."""

import pytest

from spectrace.audit.rules import VIOLATION, violations
from tests.dialogues.plays import PLAYED


@pytest.fixture(autouse=True)
def _sound():
    PLAYED.clear()
    yield
    for played in PLAYED:
        events = played.events()
        for end in range(1, len(events) + 1):
            found = [one for one in violations(events[:end]) if one.severity == VIOLATION]

            assert found == [], f"the first {end} events of a dialogue"
