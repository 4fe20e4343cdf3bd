import pytest

from spectrace.cli import agreement
from spectrace.core.types import Verdict
from spectrace.runs.reverify import Recheck
from spectrace.stats.judgements import Judgement
from tests.judged import ACCEPT, TOO_LONG, UNUSABLE, reject, review

REJECTED = Verdict(2, 0, category="unsafe", reason="why")


def said(reviews, *, only_rejected=False):
    return list(agreement.summary(reviews, only_rejected=only_rejected))


def test_what_is_left_out_is_counted_by_its_reason():
    reviews = [review(ACCEPT, UNUSABLE), review(ACCEPT, TOO_LONG), review(ACCEPT, UNUSABLE), review(ACCEPT, ACCEPT)]

    assert said(reviews)[0] == "Left out: 2 unusable, 1 too long; the bounds count them either way."


def test_derived_reviews_are_in_no_agreement():
    assert said([review(None, ACCEPT)])[0].startswith("1 in no agreement: nobody judged them")


def test_categories_are_crossed():
    reviews = [review(reject(), reject(category="premature"))] * 2 + [review(reject(), reject())]

    assert said(reviews)[0] == "Rejected by both, category recorded > new: 2 unsafe > premature, 1 unsafe > unsafe."


def test_what_came_after_a_difference_is_counted():
    pairs = [(ACCEPT, ACCEPT), (reject(), ACCEPT), (ACCEPT, reject()), (ACCEPT, ACCEPT)]
    reviews = [review(*pair, number=number) for number, pair in enumerate(pairs, start=1)]

    assert said(reviews)[0].startswith("2 came after a review that came out differently")


def test_writes_have_their_fate_at_the_turning_review_only():
    pairs = [(reject(), ACCEPT), (ACCEPT, reject())]
    reviews = [review(*pair, number=number, writes=True) for number, pair in enumerate(pairs, start=1)]

    assert said(reviews)[1] == (
        "Held writes at the review where an episode turns: 1 let through that were stopped, 0 stopped that ran, "
        "0 as before, 0 unknown."
    )


def test_rejections_alone_say_nothing_of_courses_and_accepts():
    assert said([review(reject(), ACCEPT, number=2, writes=True)], only_rejected=True) == [
        "Of rejections alone nothing follows for accepts.",
        "Agreement is not accuracy: both may be wrong together.",
    ]


def test_agreement_is_never_called_accuracy():
    assert said([review(ACCEPT, ACCEPT)]) == ["Agreement is not accuracy: both may be wrong together."]


@pytest.mark.usefixtures("line")
def test_the_table_crosses_what_each_said_and_shows_rare_classes_where_there_are_any(capsys):
    agreement.show([], [review(ACCEPT, ACCEPT), review(None, Judgement("failed"))], only_rejected=False)
    shown = capsys.readouterr().out

    assert [one.split() for one in shown.splitlines()[:4:1] if "─" not in one] == [
        ["recorded", "\\", "new", "accept", "reject", "unusable", "failed"],
        ["accept", "1", "0", "0", "-"],
        ["not", "judged", "0", "0", "0", "1"],
    ]


@pytest.mark.usefixtures("line")
def test_nothing_to_judge_is_said(capsys):
    agreement.show([], [], only_rejected=False)

    assert capsys.readouterr().out == "No review was there to judge again.\n"


@pytest.mark.usefixtures("line")
def test_a_disagreement_shows_both_verdicts(capsys):
    recheck = Recheck("r", "e", "c", 1, 10, False, REJECTED, Verdict(2, 2), False, False)
    agreement.show([recheck], [review(reject(), ACCEPT)], only_rejected=False)
    shown = capsys.readouterr().out

    assert "e:10  segment 1, 2 steps" in shown
    assert "recorded  reject step 1 (unsafe): why" in shown
    assert "new       accept" in shown
