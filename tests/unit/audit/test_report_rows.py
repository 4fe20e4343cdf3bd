from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from spectrace.audit.report_rows import Deeds
from spectrace.core.deeds import Deed, deeds
from tests.shop_log import recorded


def shop_deeds(store) -> list[Deed]:
    return deeds(store.read(recorded(store)))


def test_actions_come_back_as_they_were_and_as_often_as_they_are_asked_for(store):
    kept, given_deeds = Deeds(None), shop_deeds(store)
    for deed in given_deeds:
        kept.add(deed)

    assert [list(kept), list(kept)] == [given_deeds, given_deeds]
    kept.close()


def test_what_is_beyond_the_limit_is_counted_and_not_kept(store):
    kept, given_deeds = Deeds(2), shop_deeds(store)
    for deed in given_deeds:
        kept.add(deed)

    assert list(kept) == given_deeds[:2]
    assert (kept.total, kept.kept, kept.left_out) == (len(given_deeds), 2, len(given_deeds) - 2)
    kept.close()


@given(st.text(), st.text(alphabet=["\ud800", "\n", "\x00", "\u2028", "x"]))
def test_any_text_comes_back(arguments, authority):
    deed = replace(BLANK, arguments=arguments, authority=authority)
    kept = Deeds(None)
    kept.add(deed)

    assert list(kept) == [deed]
    kept.close()


BLANK = Deed(
    episode="e",
    seq=1,
    position="s1.1",
    tool=None,
    arguments="",
    kind="reply",
    effect_declared="reply",
    effect_by=None,
    drafted_at=1,
    held_seq=None,
    verdict_seq=None,
    authority=None,
    reviewer_model=None,
    requested_at=None,
    completed_at=None,
    outcome="never",
    state_changed=None,
    result_digest=None,
    started_by="somebody@host",
)
