import pytest

from spectrace.environments.seen import Seen


@pytest.mark.parametrize("id_", ["W200", "w200", "#W200", "credit_card_99", "1-800-5"])
def test_an_id_that_occurred_is_seen_however_it_is_written(id_):
    seen = Seen("Please cancel **W200**, paid with _credit_card_99_; call 1-800-5.")

    assert id_ in seen


@pytest.mark.parametrize("id_", ["W20", "W2000", "200", "credit_card"])
def test_a_part_of_an_id_is_not_the_id(id_):
    assert id_ not in Seen("W200 credit_card_99")


def test_an_error_that_repeats_the_calls_arguments_teaches_nothing_but_what_is_new():
    seen = Seen()
    seen.add("no order W999; did you mean W200?", echo='{"order_id": "W999"}')

    assert seen.unseen(["W999", "W200"]) == ["W999"]
