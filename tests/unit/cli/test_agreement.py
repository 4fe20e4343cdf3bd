import pytest

from spectrace.cli import agreement
from spectrace.core.types import Verdict
from spectrace.runs.reverify import Recheck

ACCEPT, REJECT_1, REJECT_2 = Verdict(2, 2), Verdict(2, 0, category="unsafe", reason="why"), Verdict(2, 1)
UNUSABLE = Verdict(2, 0, status="unusable", cause="no JSON")


def recheck(recorded, new, agree, *, counterfactual=False):
    return Recheck("r", "e", "c", 1, 10, recorded is None, recorded, new, agree, counterfactual)


def test_unusable_and_derived_reviews_stand_outside_the_share_that_agrees():
    said = agreement.summary(
        [
            recheck(ACCEPT, ACCEPT, True),
            recheck(ACCEPT, REJECT_1, False),
            recheck(ACCEPT, UNUSABLE, None),
            recheck(None, REJECT_1, None),
        ],
        only_rejected=False,
    )

    assert said[0] == "Accept everything, yes or no: 1 of 2 agree."
    assert said[1].startswith("2 left out")


def test_two_rejections_are_compared_by_their_step():
    said = agreement.summary(
        [recheck(REJECT_1, REJECT_1, True), recheck(REJECT_1, REJECT_2, True)], only_rejected=False
    )

    assert "Both reject 2; 1 of them at the same step." in said


def test_rejections_alone_never_give_a_share_of_agreement():
    said = agreement.summary([recheck(REJECT_1, ACCEPT, False)], only_rejected=True)

    assert said[0] == "Of 1 recorded rejections the new verifier rejects 0. This says nothing of accepts."


def test_what_came_after_a_difference_is_counted():
    said = agreement.summary([recheck(ACCEPT, ACCEPT, True, counterfactual=True)], only_rejected=False)

    assert said[1].startswith("1 came after a review that came out differently")


def test_agreement_is_never_called_accuracy():
    assert agreement.summary([], only_rejected=False)[-1].startswith("Agreement is not accuracy")


@pytest.mark.usefixtures("line")
def test_a_disagreement_shows_both_verdicts(capsys):
    agreement.show([recheck(REJECT_1, ACCEPT, False)], only_rejected=False)
    shown = capsys.readouterr().out

    assert "e:10  segment 1, 2 steps" in shown
    assert "recorded  reject step 1 (unsafe): why" in shown
    assert "new       accept" in shown
