"""Rules are asked of stored episodes: prompts are read by those that need them, and no further than they do."""

import asyncio

import pytest

from spectrace.audit.queries import Reader
from spectrace.audit.rules import RULES, Rule
from spectrace.core.events import GenerateRequested, StepsDiscarded
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Call, Message
from spectrace.store.memory import MemoryEventStore
from tests.altered import first, store_all
from tests.episodes import CANCEL, DONE, FIND, READ, record_shop
from tests.playbook import accept, reject
from tests.unit.audit.test_rules_discarded import CELLAR, SAID, SEEN, showing

SPARING = [rule for name, rule in RULES.items() if name != "not_by_the_protocol"]
"""Without the one that reads everything."""


class Counted(MemoryEventStore):
    """A store that says which events were read with their prompts."""

    def __init__(self):
        super().__init__()
        self.prompts = []

    def read(self, episode, start=0, stop=2**20, *, prompts=True):
        if prompts:
            self.prompts.append(start)
        return super().read(episode, start, stop, prompts=prompts)


def recorded(**models):
    store = Counted()
    episode = asyncio.run(record_shop(store, **models)).episode
    store.prompts.clear()
    return Reader(store), episode


def test_an_episode_that_discarded_nothing_it_had_read_is_read_without_prompts():
    reader, episode = recorded()

    assert reader.violations(episode, rules=SPARING) == []
    assert reader.store.prompts == []


def test_to_run_the_protocol_again_an_episode_is_read_once_with_its_prompts():
    reader, episode = recorded()

    assert reader.violations(episode) == []
    assert reader.store.prompts == [1]


def test_prompts_are_read_from_the_first_discard_on():
    wrong = Call("get_order", '{"order_id": "W201"}')
    weak, strong = [wrong, CANCEL, READ, CANCEL, DONE], [reject(1, FIND), accept(), accept()]
    reader, episode = recorded(weak=weak, strong=strong)
    gone = first(list(reader.store.read(episode, prompts=False)), StepsDiscarded)

    assert reader.violations(episode, rules=SPARING) == []
    assert reader.store.prompts == [gone.seq + 1]


def test_what_a_stored_prompt_shows_is_found(event_store):
    events = showing(Message("user", f"Remember: {CELLAR}. Go on."), events=SEEN)
    found = Reader(event_store).violations(store_all(event_store, events, "shown"), rules=SPARING)

    assert [(one.rule, one.seq, one.detail) for one in found] == [("discarded_observation_used", *SAID[0])]


@pytest.mark.parametrize("wanted", [True, False])
def test_a_rule_of_the_users_gets_prompts_where_it_asks_for_them(wanted):
    reader, episode = recorded()
    counted = []

    def counts(events):
        counted.append(sum(len(e.body.messages) for e in events if isinstance(e.body, GenerateRequested)))
        return ()

    rules = [RULES["undrafted_act"], Rule("mine", "It holds.", "warning", counts, prompts=wanted)]
    assert reader.violations(episode, rules=rules) == []
    assert [count > 0 for count in counted] == [wanted]


def test_only_the_rules_that_are_given_are_asked():
    reader, episode = recorded(protocol=SpecAgent())

    assert reader.violations(episode, rules=[]) == []
