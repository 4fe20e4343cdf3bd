from spectrace.store.arbiter import WHOLE, Arbiter, Item
from spectrace.store.run_arbiter import RunArbiter


def test_an_item_speaks_of_a_whole_episode_unless_it_names_a_review():
    assert Item(parent="ep1", episode="ep1", at=1, state="done").verdict_seq == WHOLE < 0


def test_the_adapter_has_what_the_port_asks_for():
    asked = [name for name in vars(Arbiter) if not name.startswith("_")]

    assert [name for name in asked if not callable(getattr(RunArbiter, name, None))] == []
