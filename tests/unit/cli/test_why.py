import pytest

from tests.damage import damage
from tests.shop_log import REASON

CONTRACT = (
    "segment verdict_seq review_seq drafted accepted status cause category reason rejected_action draft_reasoning "
    "repair_kind repair_action repair_outcome"
)


def test_an_item_has_the_fields_that_others_rely_on(line, episode):
    (item,) = line.items("why", episode)

    assert set(CONTRACT.split()) <= set(item)
    assert (item["segment"], item["verdict_seq"], item["category"], item["reason"]) == (1, 10, "premature", REASON)
    assert item["rejected_action"] == {"kind": "call", "tool": "cancel_order", "arguments": '{"order_id": "W200"}'}
    assert (item["repair_kind"], item["repair_action"]["tool"], item["repair_outcome"]) == (
        "fused",
        "find_customer",
        "ok",
    )


def test_an_event_number_chooses_the_review_around_it(line, episode):
    assert [item["segment"] for item in line.items("why", f"{episode}:28")] == [2]


def test_people_are_told_a_story(line, episode):
    told = line("why", episode).stdout

    assert [
        words for words in ("HELD: not executed", REASON, "step 1; it never ran", "find_customer") if words not in told
    ] == []


def test_an_event_outside_every_segment_is_refused(line, episode):
    assert line("why", f"{episode}:1").exit_code == 2


@pytest.mark.parametrize(
    "loss",
    [
        "UPDATE events SET payload = NULL, salt = NULL WHERE (key & 1048575) = 10",
        "UPDATE events SET payload = x'0011' WHERE (key & 1048575) = 10",
        "DELETE FROM events WHERE (key & 1048575) = 10",
        "DELETE FROM events WHERE (key & 1048575) = 5",
        "DELETE FROM events",
        "UPDATE events SET effect = 'both' WHERE (key & 1048575) = 5",
        "UPDATE events SET at = 9223372036854775807 WHERE (key & 1048575) = 5",
    ],
)
def test_a_rejection_that_cannot_be_read_is_not_denied(line, episode, loss):
    damage("spectrace.db", loss)
    result = line("why", episode)

    assert (result.exit_code, "Nothing was rejected" in result.output) == (3, False)
    assert f"`spectrace verify {episode}`" in result.stderr
    assert "bug" not in result.stderr
