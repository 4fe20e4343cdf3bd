"""An event's own texts, and what repeats them."""

import json

from spectrace.core.digest import canonical
from spectrace.store.matching import Needle
from spectrace.store.repeats import own_texts, repeats


def texts(value, type_="act.completed"):
    return own_texts(type_, canonical(value), lambda _: {})


def said_again(own, value):
    return repeats([Needle(text) for text in own], canonical(value), lambda _: {})


def test_what_somebody_said_is_its_own_and_words_of_ours_are_not():
    body = {"observation": {"content": "W200 of C11, open"}, "source": "recorded", "fingerprint_after": "a" * 64}

    assert texts(body) == ["W200 of C11, open"]


def test_a_verdicts_reason_is_its_own_and_a_segments_is_a_word_of_ours():
    body = {"reason": "effect_observed"}

    assert texts(body, "verdict.given") == ["effect_observed"]
    assert texts(body, "segment.closed") == []


def test_short_texts_are_not_followed():
    assert texts({"observation": {"content": "ok, done"}}) == ["ok, done"]
    assert texts({"observation": {"content": "ok, don"}}) == []


def test_json_is_its_own_with_and_without_white_space():
    own = texts({"arguments": '{"id":  "W200"}'})

    assert own == sorted(['{"id":  "W200"}', '{"id": "W200"}', '{"id":"W200"}'])
    assert said_again(own, {"content": json.dumps({"call": '{"id":"W200"}'})})


def test_a_repetition_holds_the_whole_text():
    own = texts({"content": "the whole of it"})

    assert said_again(own, {"messages": [{"content": "Observation: the whole of it."}]})
    assert not said_again(own, {"messages": [{"content": "the whole"}]})
