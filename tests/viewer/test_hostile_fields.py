"""Each hostile text in every text of every event, through the viewer's pages: literal, in no element that reads it.

`test_hostile` draws one log of texts that markdown and HTML know; here it is every field of every event, one text each.
"""

import json
import re
from contextlib import closing

import pytest

from spectrace.audit.visible import visible
from spectrace.store import runs
from spectrace.store.samples import pending, sample_episode
from spectrace.store.sql import open_store
from tests.episodes import recorded_events
from tests.hostile_log import TEXTS, record
from tests.viewer.conftest import Draw
from tests.viewer.test_episodes import texts
from tests.viewer.test_hostile import labels

pytestmark = pytest.mark.slow

HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2028\u2029\u2066-\u2069\ufeff\ud800-\udfff]")
SHOP, EVERY, RUN = "0123shop", "4567else", "a run"
MARKED = {name: text for name, text in TEXTS.items() if name != "formula"}
"""Texts that are found again wherever they stand; `=1+1` is too short for that."""


@pytest.fixture(scope="module", params=TEXTS)
def spoiled(request, tmp_path_factory):
    """A log whose events hold one hostile text wherever they take any, the text, and its episodes' lengths."""
    path, text = tmp_path_factory.mktemp(request.param) / "log.db", TEXTS[request.param]
    shop, every = recorded_events(), pending(sample_episode(1))
    with closing(open_store(str(path))) as store:
        assert record(store, SHOP, shop, text) > 25
        assert record(store, EVERY, every, text) > 20
        heads = [(SHOP, store.row(SHOP).head.hex())]
        runs.begin(store, RUN, "run", heads, json.dumps({"env": visible(text)}))
    return path, text, {SHOP: len(shop), EVERY: len(every)}


def drawn(page, text: str) -> None:
    """Check what a page of a hostile log must not hold."""
    assert [one.message for one in page.exception] == []
    said = labels(page)
    if text in MARKED.values():
        marks = {text, visible(text), text[:12]} - {""}
        assert [one for one in said if any(mark in one for mark in marks)] == []
    assert [one for one in (*said, texts(page)) if HIDDEN.search(one)] == []
    styles = [one.proto.body for one in page.get("html")]
    assert [one[:7] for one in styles] == ["<style>"]
    assert not any(part in styles[0] for part in ("<script", "onerror", "198.51.100.7"))


def test_the_list_and_the_runs_are_drawn(draw: Draw, spoiled):
    path, text, _ = spoiled

    for address in ({}, {"runs": "all"}, {"run": RUN}):
        drawn(draw(path, **address), text)


@pytest.mark.parametrize("episode", [SHOP, EVERY])
def test_an_episode_and_its_events_are_drawn(draw: Draw, spoiled, episode):
    path, text, lengths = spoiled

    drawn(draw(path, episode=episode), text)
    for seq in range(0, lengths[episode], max(1, lengths[episode] // 6)):
        drawn(draw(path, episode=episode, event=seq), text)


def test_the_text_is_shown_as_it_stands(draw: Draw, spoiled):
    path, text, _ = spoiled
    shown = texts(draw(path, episode=SHOP, event=0))
    first = next(one for one in visible(text, lines=True).split("\n") if one.strip())

    assert first.strip()[:40] in shown
