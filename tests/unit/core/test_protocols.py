"""Protocols by name: what is unknown is refused naming what there is."""

import pytest

from spectrace.core.agentcollab import AgentCollab
from spectrace.core.protocols import PROTOCOLS, protocol_of
from spectrace.core.specagent import SpecAgent
from spectrace.core.speculative_actions import SpeculativeActions
from spectrace.errors import UsageError


def test_every_protocol_is_found_under_its_name():
    assert {name: kind.NAME for name, kind in PROTOCOLS.items()} == {name: name for name in PROTOCOLS}
    assert protocol_of("specagent", {"k": 3, "fused": False}) == SpecAgent(k=3, fused=False)


def test_the_rivals_have_options_of_their_own():
    assert protocol_of("speculative-actions", {"guesses": 3}) == SpeculativeActions(guesses=3)
    assert protocol_of("agentcollab", {"k": 4, "offset": 0}) == AgentCollab(k=4, offset=0)


def test_an_unknown_protocol_or_option_names_the_known_ones():
    with pytest.raises(UsageError, match="no protocol is named 'spec'; there are specagent, weak-only, strong-only"):
        protocol_of("spec", {})
    with pytest.raises(UsageError, match="specagent has no option kk; it has k, acceptance, fused"):
        protocol_of("specagent", {"kk": 1})
