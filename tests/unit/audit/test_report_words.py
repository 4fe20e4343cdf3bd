from spectrace.audit import report_words as words
from spectrace.audit.report_figures import OUTCOMES
from spectrace.audit.unknowns import KINDS
from spectrace.cli.audit import AUTHORITIES


def test_every_word_that_a_page_may_hold_is_explained():
    assert set(words.OUTCOME) == set(OUTCOMES)
    assert set(words.AUTHORITY) == {*AUTHORITIES, "none"}
    assert set(words.UNKNOWN_MEANS) == set(KINDS)
    assert set(words.RESULT) == {"invalid", "consistent", "valid", "unknown"}
