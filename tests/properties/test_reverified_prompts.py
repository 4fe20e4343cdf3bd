"""A recorded review is put to another verifier in the very prompt that the first one saw, whatever led up to it."""

import asyncio

import pytest

from spectrace.core.events import GenerateRequested
from spectrace.core.specagent import SpecAgent
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.reverify import reverify_episode
from tests.playbook import accept
from tests.properties.played import play
from tests.properties.rehearsed import REHEARSED

DECODED = {"acceptance": "semantic", "verdict": "decoded"}
"""The question that can be put to any model."""


def questions(events, judged):
    """The first question of each review that came to a verdict: an answer that cannot be read is asked for again."""
    found = {}
    for event in events:
        body = event.body
        if isinstance(body, GenerateRequested) and body.role == "reviewer" and body.position in judged:
            found.setdefault(body.position, (body.messages, body.tools_digest, body.response_schema))
    return found


def reverified(script, chosen):
    played = play(script, SpecAgent, {**chosen, **DECODED})
    judged = {f"s{segment.index}" for segment in played.episode.segments if segment.verdict is not None}
    verifier = ScriptedModel(accept(), repeat=True, calls="native" if played.script.native[1] else "json")
    rows, _ = asyncio.run(reverify_episode(played.events, verifier, played.store, "again"))
    child = list(played.store.read(rows[0].child)) if rows else []
    return questions(played.events, judged), questions(child, judged)


def test_the_prompt_is_the_recorded_one_to_the_last_byte():
    both = [reverified(script, chosen) for script, chosen in REHEARSED[::5]]

    assert [again for _, again in both] == [recorded for recorded, _ in both]
    assert sum(len(recorded) for recorded, _ in both) > 10


@pytest.mark.slow
def test_the_prompt_is_the_recorded_one_in_every_rehearsed_episode():
    for script, chosen in REHEARSED:
        recorded, again = reverified(script, chosen)
        assert again == recorded
