"""One episode's page."""

import asyncio
import json

import pytest

from spectrace.core.types import Call, Finish
from spectrace.store.samples import EPOCH_US, pending
from spectrace.store.sql import open_store
from tests import collaborations, guesses
from tests.episodes import STRONG, record_shop
from tests.viewer.conftest import Draw
from tests.viewer.logs import long_log, record_saying
from tests.viewer.test_episodes import texts


def buttons(page) -> int:
    return len([one for one in page.button if str(one.key).startswith("goto-")])


def test_what_the_end_cut_off_is_not_said_to_have_been_reviewed(draw: Draw, tmp_path):
    store = open_store(str(tmp_path / "cut.db"))
    recorded = asyncio.run(record_shop(store, strong=STRONG[:1]))
    store.close()

    shown = texts(draw(tmp_path / "cut.db", episode=recorded.episode))
    assert "discarded: the episode ended before its review" in shown


def test_the_head_says_what_was_asked_by_whom_and_how_it_ended(draw: Draw, shop):
    shown = texts(draw(shop[0], episode=shop[1]["rejected"]))

    for said in ("Please cancel my order W200.", "cancel-own (trial 1)", "specagent", "scripted:scripted", "completed"):
        assert said in shown
    assert "k=6" in shown


def test_a_rejection_shows_the_reason_the_discarded_step_and_the_repair_with_its_outcome(draw: Draw, shop):
    shown = [one.value for one in draw(shop[0], episode=shop[1]["rejected"]).text]

    first = shown[shown.index("Segment 1") : shown.index("Segment 2")]
    assert first == [
        "Segment 1",
        "closed: held  ·  events 3 to 14",
        "rejected at step 1 of 1",
        "1",
        "cancel_order",
        '{"order_id": "W200"}',
        "held for review",
        "discarded",
        "never executed",
        "Step 1 rejected",
        "premature",
        "find the customer first",
        "Rejected draft",
        'cancel_order {"order_id": "W200"}',
        "Repair by the strong model (fused)",
        "r1",
        "find_customer",
        '{"name_or_email": "Ana Silva"}',
        "C11 Ana Silva, ana@mail.example, vouchers so far: none",
    ]


def test_a_held_write_that_was_accepted_shows_that_it_ran(draw: Draw, shop):
    shown = [one.value for one in draw(shop[0], episode=shop[1]["rejected"]).text]

    second = shown[shown.index("Segment 2") : shown.index("Segment 3")]
    assert second[2] == "accepted 2 of 2"
    assert second[-5:] == [
        "cancel_order",
        '{"order_id": "W200"}',
        "held, then executed",
        "W200 is cancelled",
        "The strong model accepts every step",
    ]


def test_a_segment_that_nobody_reviewed_is_marked(draw: Draw, tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    reads = [Call("look", json.dumps({"what": str(n)})) for n in range(6)]
    episode = record_saying(store, "seen", [*reads, Finish("done")], ['{"verdict": "accept"}'])
    store.close()

    shown = [one.value for one in draw(tmp_path / "log.db", episode=episode).text]

    assert shown[shown.index("Segment 1") + 2] == "committed unreviewed"


def test_an_unusable_review_says_why(draw: Draw, shop):
    shown = texts(draw(shop[0], episode=shop[1]["broken"]))

    assert "review unusable: nothing accepted" in shown
    assert "expected one JSON object and nothing else, found 'nonsense'" in shown


def test_a_protocol_without_review_says_so(draw: Draw, shop):
    assert "no review in this protocol" in texts(draw(shop[0], episode=shop[1]["alone"]))


def test_an_episode_without_an_end_can_be_looked_at(draw: Draw, shop, tmp_path):
    source, store = open_store(str(shop[0])), open_store(str(tmp_path / "cut.db"))
    events = list(source.read(shop[1]["rejected"]))
    store.create("cut", events[0].body, events[0].at).close()
    source.close()
    store.close()

    page = draw(tmp_path / "cut.db", episode="cut")

    assert "interrupted" in texts(page)
    assert "No step was drafted in this episode." in texts(page)


def test_the_timeline_has_a_row_for_every_event(draw: Draw, shop):
    timeline = draw(shop[0], episode=shop[1]["rejected"]).dataframe[0].value

    assert list(timeline["seq"]) == list(range(len(timeline)))
    assert timeline["type"].iloc[-1] == "episode.ended"


def test_the_timeline_can_be_narrowed_to_writes(draw: Draw, shop):
    timeline = draw(shop[0], episode=shop[1]["rejected"], events="writes").dataframe[0].value

    assert set(timeline["effect"]) == {"write"}
    assert "act.completed" in set(timeline["type"])


@pytest.fixture
def guessing(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    writer = store.create("ep", guesses.started(), EPOCH_US)
    writer.append(pending(guesses.bodies())[1:], durable=True)
    writer.close()
    store.close()
    return tmp_path / "log.db"


def test_what_rivals_decide_is_among_the_decisions(draw: Draw, guessing):
    timeline = draw(guessing, episode="ep", events="decisions").dataframe[0].value

    assert {"step.speculated", "speculation.matched"} <= set(timeline["type"])
    assert "s1.1 is the guess of event 1: its observation is taken" in set(timeline["summary"])


def test_guesses_stand_below_the_steps_with_what_became_of_them(draw: Draw, guessing):
    shown = [one.value for one in draw(guessing, episode="ep").text]
    first, second, third = (shown.index(number) for number in ("g1", "g2", "g3"))

    assert [shown[first + 3 : first + 6], shown[second + 3 : second + 6], shown[third + 3 : third + 5]] == [
        ["guess taken", "pending", "g2"],
        ["had run in vain", "guess lost", "lost"],
        ["guess lost", "never executed"],
    ]


def test_a_step_that_took_a_guess_says_which_and_the_head_counts_guesses(draw: Draw, guessing):
    shown = [one.value for one in draw(guessing, episode="ep").text]

    assert shown[shown.index("find_order") + 2] == "seen by guess s1.g1"
    assert "guesses taken: 1 of 3" in shown
    assert [shown[shown.index(name) + 1] for name in ("segments", "guesses", "guesses taken")] == ["1", "3", "1"]


@pytest.fixture
def kept(tmp_path):
    def keep(bodies):
        store = open_store(str(tmp_path / "log.db"))
        writer = store.create("ep", bodies[0], EPOCH_US)
        writer.append(pending(bodies)[1:], durable=True)
        writer.close()
        store.close()
        return tmp_path / "log.db"

    return keep


def test_a_collaboration_shows_plan_drivers_judgement_and_takeover_where_they_happened(draw: Draw, kept):
    shown = [one.value for one in draw(kept(collaborations.bodies()), episode="ep").text]
    told = (
        "Plan of the strong model",
        "Find the order, then cancel it.",
        "From segment 1 on the weak model drives, as planned",
        "Segment 1",
        "the weak model drove",
        "The weak model judges itself after segment 1: stagnation",
        "the same again",
        "From segment 2 on the strong model takes over for 2 steps, after stagnation",
        "Segment 2",
        "the strong model drove",
    )

    places = [shown.index(words) for words in told]
    assert places == sorted(places)
    assert shown[shown.index("segments") + 1] == "2"


def test_a_reply_that_was_tolerated_is_told_in_its_segment(draw: Draw, kept):
    shown = [one.value for one in draw(kept(collaborations.bodies()), episode="ep").text]
    told = "A reply of the actor was read although it breaks the form"

    assert shown.index("Segment 2") < shown.index(told)
    assert shown[shown.index(told) + 1] == "a fence around the JSON"


def test_a_scored_verdict_shows_the_probability_beside_each_step(draw: Draw, kept):
    shown = [one.value for one in draw(kept(collaborations.scored()), episode="ep").text]

    assert [words for words in shown if words.startswith("P(yes)")] == ["P(yes) 0.990000", "P(yes) 0.120000"]


def test_the_button_of_a_verdict_puts_its_event_into_the_address(draw: Draw, shop):
    page = draw(shop[0], episode=shop[1]["rejected"])

    page.button(key="goto-verdict-0").click().run()

    assert page.query_params["event"] == "10"
    assert "#10  verdict.given" in texts(page)


def test_a_verdict_shows_what_the_model_wrote(draw: Draw, shop):
    page = draw(shop[0], episode=shop[1]["rejected"], event=10)

    assert json.loads(page.code[0].value)["reason"] == "find the customer first"


def test_a_model_call_shows_its_exact_prompt(draw: Draw, shop):
    log, ids = shop
    store = open_store(str(log), read_only=True)
    asked = next(event for event in store.read(ids["rejected"]) if event.type == "generate.requested")
    store.close()

    page = draw(log, episode=ids["rejected"], event=asked.seq)

    assert [one.value for one in page.code][: len(asked.body.messages)] == [one.content for one in asked.body.messages]


def test_a_big_field_is_shown_as_its_beginning_and_its_length(draw: Draw, tmp_path):
    episode = long_log(tmp_path / "log.db", "x" * 2_000_000, calls=1)

    page = draw(tmp_path / "log.db", episode=episode, event=7)

    assert "observation.content  ·  2,000,000 characters, the first 2,000 are shown above" in texts(page)
    assert max(len(one.value) for one in [*page.text, *page.code]) < 45_000
    assert max(map(len, page.dataframe[0].value["summary"])) < 400


def test_a_long_episode_is_cut_into_pages_and_a_link_opens_the_right_one(draw: Draw, tmp_path):
    episode = long_log(tmp_path / "log.db", "seen", calls=60)

    first = draw(tmp_path / "log.db", episode=episode)
    linked = draw(tmp_path / "log.db", episode=episode, event=300)

    assert "Segment 1" in texts(first)
    assert buttons(first) < 40
    assert ("Segment 1\n" in texts(linked), "Segment 50\n" in texts(linked)) == (False, True)
