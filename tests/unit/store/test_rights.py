import pytest

from spectrace.store import rights
from spectrace.store.rights import Allowed


def test_what_is_allowed_is_said_as_a_grant_says_it():
    assert Allowed(insert=True, update=("a", "b"), delete=True).text() == 'INSERT, UPDATE ("a", "b"), DELETE'
    assert Allowed(delete=True).text() == "DELETE"


def test_policies_of_long_roles_have_names_of_their_own():
    first, second = (rights.policy("r" * 62 + end, "project") for end in "ab")

    assert first != second
    assert max(map(len, (first, second))) <= 63


@pytest.mark.parametrize(
    ("text", "said"),
    [("x", "'x'"), ("it's", "'it''s'"), ("a\\b", r"E'a\\b'"), ("a\n\u202e", r"E'a\U0000000a\U0000202e'")],
)
def test_a_literal_holds_any_text_and_hides_nothing(text, said):
    assert rights.literal(text) == said


def test_no_job_may_update_a_key_or_take_an_event_away():
    for job in (rights.RECORDER, rights.ERASER):
        assert not job["events"].delete
        assert "key" not in job["events"].update
    assert rights.RECORDER["events"].update == rights.RECORDER["blobs"].update == ()
    assert "erasures" not in rights.RECORDER
