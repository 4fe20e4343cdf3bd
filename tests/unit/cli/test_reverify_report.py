from dataclasses import replace

from spectrace.audit.passes import Answer, Pass, read_pass
from spectrace.audit.queries import Reader
from spectrace.cli.reverify_report import after, before, item, items, left_of
from spectrace.core.types import ModelFacts, Verdict
from spectrace.runs.pass_estimate import Estimate
from spectrace.runs.pass_plan import Plan
from spectrace.store.memory import MemoryEventStore
from tests.rejudged import judge_again, record_alone, record_reviews

PLAN = Plan("again", "m", repeat=2)
FACTS = ModelFacts("strong", "openai", "m", price='{"input": "2", "cached": "1", "output": "4"}')
DONE = Pass("again", {"verifier": "m"}, (), "", (), (), {})
ANSWER = Answer("ep", 1, 7, False, 2, "child", 9, Verdict(2, 2), 8, Verdict(2, 1, category="other", reason="no"))


def test_before_it_begins_every_number_has_its_ground():
    found = Estimate(
        episodes=40,
        reviews=200,
        before=20,
        left_out=4,
        prompt_tokens=1_500_000,
        counted=100,
        output_tokens=1000,
        written=100,
        unread={"ep1": "it is damaged."},
    )

    assert list(before(found, PLAN, FACTS)) == [
        "Run again: 100 reviews of 40 episodes, each judged 2 times.",
        "20 reviews were judged before.",
        "4 reviews were left out: m says nothing of them.",
        "Episode ep1 cannot be judged: it is damaged.",
        (
            "It will take 176 calls, about 1.5 million prompt tokens (of 100 counted when they were recorded, "
            "of 76 a token taken for 4 characters), about 3.004 USD (nothing cached)."
        ),
    ]


def test_without_a_price_no_cost_is_said_and_what_is_free_is_said_to_be():
    found = Estimate(episodes=1, reviews=2, prompt_tokens=20_000)
    free = replace(FACTS, price='{"input": "0", "cached": "0", "output": "0"}')

    assert list(before(found, replace(PLAN, repeat=1), replace(FACTS, price=None)))[-1].endswith("4 characters).")
    assert list(before(found, PLAN, free))[-1].endswith(", for nothing.")


def test_what_is_left_is_said_with_why_and_how_to_go_on():
    found = Estimate(reviews=5, left_out=1)
    done = replace(DONE, answers=(ANSWER,), too_long=frozenset({("ep", 2, 1)}))

    assert left_of(found, done) == 2
    assert list(after(found, done, 1, "run_max_cost_usd")) == [
        "5 reviews: judged now 1, before 1, left 2, left out 1.",
        (
            "Not all is judged (the money is spent: --max-cost-usd). "
            "`spectrace reverify --name again --verifier m` goes on."
        ),
    ]
    assert list(after(found, done, 1, "run_cancelled"))[1] == "Not all is judged (the run was cancelled)."
    assert len(list(after(Estimate(reviews=2), done, 2, None))) == 1


def test_an_item_has_both_verdicts_and_where_the_new_one_is_recorded():
    told = item("again", ANSWER)

    assert {name: told[name] for name in ("run", "episode", "child", "repeat", "segment", "verdict_seq")} == {
        "run": "again",
        "episode": "ep",
        "child": "child",
        "repeat": 2,
        "segment": 1,
        "verdict_seq": 7,
    }
    assert (told["recorded"]["decision"], told["new"]["decision"], told["agree"]) == ("reject", "accept", False)
    assert item("again", replace(ANSWER, recorded=None))["recorded"] is None


def test_the_items_of_derived_reviews_have_their_anchors_and_others_none():
    store = MemoryEventStore()
    judge_again(store, record_alone(store, 2), "again")
    judge_again(store, record_reviews(store, 1), "night")
    reader = Reader(store)
    derived, recorded = (items(reader, read_pass(reader, run)) for run in ("again", "night"))

    assert {(one["held"], one["grade"]) for one in derived} == {
        (held, grade) for held in ("unknown", "finish") for grade in ("passed", "failed")
    }
    assert {(one["held"], one["grade"]) for one in recorded} == {(None, None)}


def test_an_item_has_the_probabilities_of_a_scored_verdict_and_its_threshold():
    scored = replace(ANSWER, threshold="0.7", verdict=Verdict(2, 1, probabilities='["0.9", NaN, "0.1"]'))
    told = item("again", scored)

    assert (told["threshold"], told["new"]["probabilities"]) == ("0.7", ["0.9", None, "0.1"])
    assert (item("again", ANSWER)["threshold"], told["recorded"]["probabilities"]) == (None, None)


def test_before_it_begins_scored_verdicts_are_told_apart():
    plan, found = replace(PLAN, verdict="scored", threshold="0.7"), Estimate(episodes=1, reviews=6, reasons=2)

    assert list(before(found, plan, FACTS))[1:] == [
        "It will take 6 calls and 2 more for reasons, if what was rejected is rejected again.",
        "Verdicts are scored at 0.7: what is accepted decodes nothing.",
    ]


def test_going_on_names_prompts_of_its_own():
    (_, words) = after(Estimate(reviews=1), replace(DONE, settings={"verifier": "m", "prompts": "sha256:ab"}), 0, None)

    assert words.endswith("`spectrace reverify --name again --verifier m --prompts FILE` goes on.")


def test_what_was_taken_over_is_left_to_the_parents_and_that_is_said():
    found = Estimate(episodes=2, reviews=3, parents=2)

    assert list(before(found, replace(PLAN, repeat=1), FACTS))[1] == (
        "2 reviews were left to the episodes that they were taken over from: what a fork or a resumed episode has from "
        "its parent is judged there."
    )


def test_a_verifier_of_which_no_verdict_can_be_read_is_told_with_why():
    found, unread = Estimate(episodes=1, reviews=2), Verdict(2, 0, status="unusable", cause="it returned NoneType")
    nothing = replace(ANSWER, verdict=unread)
    odd = replace(ANSWER, verdict=replace(unread, cause=None))

    def said(*answers):
        return list(after(found, replace(DONE, answers=answers), 2, None))[1:]

    assert said(nothing, nothing) == ["Every verdict was unusable: it returned NoneType."]
    assert said(nothing, nothing, odd) == ["Every verdict was unusable: 2 of them it returned NoneType."]
    assert (said(odd, odd), said(nothing, ANSWER)) == (["Every verdict was unusable."], [])
