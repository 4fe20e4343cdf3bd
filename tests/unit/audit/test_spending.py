import pytest

from spectrace.audit.spending import spending
from spectrace.core.baselines import StrongOnly
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Usage
from spectrace.cost.prediction import Round
from spectrace.errors import ModelFailed
from tests.episodes import CANCEL, DONE, FIND, READ, recorded_events
from tests.playbook import accept, reject
from tests.spent import ALONE_TOLD, STRONG_TOLD, WEAK_TOLD, told


def spent(**of_record):
    return spending(recorded_events(**of_record))


def phases(one):
    return [(call.phase, call.who, call.segment) for call in one.calls]


def test_each_call_has_its_phase_and_its_servers_word():
    one = spent(weak=WEAK_TOLD, strong=STRONG_TOLD)

    assert phases(one) == [
        ("draft", "weak", 1),
        ("verify", "strong", 1),
        ("draft", "weak", 2),
        ("draft", "weak", 2),
        ("verify", "strong", 2),
        ("draft", "weak", 3),
        ("verify", "strong", 3),
    ]
    assert (one.calls[1].usage, one.calls[1].latency_us) == (Usage(600, 0, 40), 4_000_000)


def test_rounds_are_what_was_judged_and_what_it_came_to():
    one = spent(weak=WEAK_TOLD, strong=STRONG_TOLD)

    assert [made.round for made in one.rounds] == [Round("h", 0, 0, 1), Round("rh", 2), Round("h", 1)]
    assert ([len(made.review) for made in one.rounds], one.steps, one.tail) == ([1, 1, 1], 4, 0)


def test_every_committed_step_lies_in_a_round_or_behind_the_last():
    one = spent(weak=WEAK_TOLD, strong=STRONG_TOLD)
    counted = sum(made.round.unreviewed + made.round.accepted + made.round.repaired for made in one.rounds)

    assert counted + one.tail == one.steps


def test_a_corrective_turn_belongs_to_the_round_that_rejected():
    one = spent(weak=[CANCEL, READ, CANCEL, DONE], strong=[reject(1), FIND, accept(), accept()])

    assert [(len(made.review), len(made.repair)) for made in one.rounds] == [(1, 1), (1, 0), (1, 0)]
    assert one.rounds[0].round.repaired == 1


def test_what_is_asked_again_stands_apart_from_the_review():
    one = spent(weak=[CANCEL, READ, CANCEL, DONE], strong=["well", reject(1, FIND), accept(), accept()])

    assert [call.phase for call in one.calls[1:3]] == ["verify", "re-ask"]
    assert [call.phase for call in one.apart] == ["re-ask"]
    assert [len(made.review) for made in one.rounds] == [1, 1, 1]


def test_a_verdict_that_could_not_be_read_is_no_round_and_its_turn_stands_apart():
    one = spent(weak=[CANCEL, READ, CANCEL, DONE], strong=["well", "well", FIND, accept(), accept()])

    assert [call.phase for call in one.apart] == ["verify", "re-ask", "repair"]
    assert [made.round for made in one.rounds] == [Round("rh", 2, unreviewed=1), Round("h", 1)]


def test_unreviewed_steps_are_counted_to_the_next_review():
    one = spent(weak=[FIND, READ, CANCEL, DONE], strong=[accept(), accept()], protocol=SpecAgent(k=2))

    assert [made.round for made in one.rounds] == [Round("h", 1, unreviewed=2), Round("h", 1)]


def test_a_review_that_reaches_back_judges_what_it_reached():
    one = spent(
        weak=[FIND, READ, CANCEL, DONE], strong=[accept(), accept()], protocol=SpecAgent(k=2, unreviewed="revisable")
    )

    assert [made.round for made in one.rounds] == [Round("rrh", 3), Round("h", 1)]


def test_a_strong_model_alone_acts():
    one = spent(weak=WEAK_TOLD, strong=ALONE_TOLD, protocol=StrongOnly())

    assert (len(one.acting), one.apart, one.rounds, one.steps) == (4, (), (), 4)


def test_a_call_that_failed_is_counted_as_one():
    one = spent(strong=[ModelFailed("server", "gone")])

    assert [(call.phase, call.failed, call.usage) for call in one.calls if call.who == "strong"] == [
        ("verify", True, Usage())
    ]
    assert len(one.apart) == 1


def test_a_call_that_a_budget_refused_is_none():
    refused, failed = (spent(strong=[ModelFailed(kind, "gone")]) for kind in ("budget", "refused"))

    assert [call.who for call in refused.calls] == ["weak"]
    assert [(call.who, call.never_billed) for call in failed.calls] == [("weak", False), ("strong", True)]
    assert refused.apart == ()


@pytest.mark.parametrize("native", [False, True])
def test_tools_that_were_sent_beside_the_messages_are_part_of_the_prompt(native):
    events = recorded_events(weak=WEAK_TOLD, strong=STRONG_TOLD)
    if native:
        events = [with_tools(event) for event in events]

    assert (spending(events).calls[0].prompt[0].role == "tools") == native


def with_tools(event):
    from dataclasses import replace

    from spectrace.core.events import GenerateRequested

    if isinstance(event.body, GenerateRequested):
        return replace(event, body=replace(event.body, tools_digest="sha256:x"))
    return event


def test_a_draft_that_could_not_be_read_leads_to_a_turn_apart():
    one = spent(weak=["?", "?", told(DONE, 10, 0, 1)], strong=[CANCEL, accept()])

    assert [call.phase for call in one.apart] == ["repair"]
    assert [made.round.unreviewed for made in one.rounds] == [1]


def test_of_an_exact_review_every_step_that_the_strong_model_writes_is_part():
    one = spent(
        weak=[FIND, CANCEL, DONE],
        strong=[FIND, READ, DONE],
        protocol=SpecAgent(acceptance="exact"),
    )

    assert [len(made.review) for made in one.rounds] == [2, 1]
    assert [made.round for made in one.rounds] == [Round("rh", 1, repaired=1), Round("h", 1)]


def test_of_a_scored_rejection_its_explanation_is_part():
    explained = reject(1, FIND).replace('"verdict": "reject", "first_wrong": 1, ', "")
    one = spent(
        weak=[CANCEL, DONE],
        strong=['{"yes": ["-3.0"], "no": ["-0.1"]}', explained, '{"yes": ["-0.1"], "no": ["-3.0"]}'],
        protocol=SpecAgent(verdict="scored"),
    )

    assert [(len(made.review), made.round.accepts) for made in one.rounds] == [(2, False), (1, True)]
    assert one.apart == ()
