"""Asking the rules of a stored episode: prompts are read only by a rule that needs them, and only as far as it does.

Prompts grow with the square of an episode. Our own rule that looks into them finds what to look for in the events
without them, and reads on from the first discard. The one that runs the protocol again reads all of them, once; a
user's rule that wants prompts (`Rule.prompts`) gets all.
"""

from collections.abc import Iterator, Sequence

from spectrace.audit.reading import read_events
from spectrace.audit.rules import RULES, Rule, Tally, Violation, violations
from spectrace.audit.rules_account import Account
from spectrace.core.events import Event
from spectrace.store.event_store import EventStore


def broken(
    store: EventStore, episode: str, events: Sequence[Event], rules: Sequence[Rule] | None, tally: Tally | None
) -> list[Violation]:
    """Return which rules an episode breaks whose events were read without their prompts."""
    asked = list(RULES.values() if rules is None else rules)

    def behind(seq: int) -> Iterator[Event]:
        return read_events(store, episode, seq + 1)

    found = violations(Account(events, behind), [rule for rule in asked if not rule.prompts], tally=tally)
    wanting = [rule for rule in asked if rule.prompts]
    if wanting and events:
        found += violations(list(read_events(store, episode)), wanting, tally=tally)
    return sorted(found, key=lambda one: (one.seq, one.rule))
