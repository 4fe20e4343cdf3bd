"""A record is rehearsed before it is gone on with: nothing is reached, and what lies behind it is told."""

import asyncio
import json
from dataclasses import replace

import pytest

from spectrace.core.events import GenerateRequested
from spectrace.core.specagent import SpecAgent
from spectrace.environments.shop import open_shop
from spectrace.errors import ReplayDiverged, Untestable
from spectrace.runs.rehearsing import own_task, rehearse, require_same_tools
from tests.episodes import recorded_events


def rehearsed(events, told, protocol=None):
    return asyncio.run(rehearse(events[0].body, protocol or SpecAgent(), told))


def test_what_the_protocol_comes_to_first_behind_the_record_is_told():
    events = recorded_events()
    number = next(event.seq for event in events if isinstance(event.body, GenerateRequested))
    beyond = rehearsed(events, events[:number])

    assert (beyond.over, type(beyond.first)) == (False, GenerateRequested)


def test_a_record_that_holds_everything_but_its_end_is_over():
    events = recorded_events()

    assert rehearsed(events, events[:-1]).over


def test_other_prompts_are_no_other_way():
    events = recorded_events()
    other = json.dumps({**json.loads(events[0].body.prompts), "review": "Well?"})
    events = [replace(events[0], body=replace(events[0].body, prompts=other)), *events[1:]]

    assert rehearsed(events, events[:-1]).over


def test_other_options_that_take_another_way_are_a_difference():
    events = recorded_events()

    with pytest.raises(ReplayDiverged):
        rehearsed(events, events[:-1], SpecAgent(acceptance="exact"))


def test_a_record_that_goes_on_where_the_protocol_does_not_is_told():
    events = recorded_events()
    beside = replace(events[5], lane="7")

    with pytest.raises(Untestable, match=r"does not come to event 5"):
        rehearsed(events, [*events[:5], beside])


def test_a_task_or_tools_that_changed_are_refused():
    recorded = recorded_events()[0].body
    renamed = replace(recorded, task=replace(recorded.task, id="gone"))
    shop = open_shop()

    with pytest.raises(Untestable, match="has no task 'gone'; it was recorded on shop"):
        own_task(shop, renamed)
    with pytest.raises(Untestable, match="is another one than was recorded"):
        own_task(shop, replace(recorded, task_digest="sha256:0"))
    with pytest.raises(Untestable, match=rf"the tools differ \(/tools/{shop.tools()[0].name}: recorded"):
        require_same_tools(recorded, shop.tools()[1:])
    require_same_tools(recorded, shop.tools())
