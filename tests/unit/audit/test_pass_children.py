from spectrace.audit.pass_children import children_of, ended_of
from spectrace.audit.queries import Reader
from spectrace.core.types import Outcome
from spectrace.errors import ModelFailed
from spectrace.store.memory import MemoryEventStore
from tests.playbook import accept
from tests.shop_log import recorded, reverified


def test_a_pass_ended_as_its_whole_child_or_else_as_the_last():
    store = MemoryEventStore()
    one, other = recorded(store), recorded(store)
    for replies in ([accept()] * 3, [ModelFailed("server", "down")]):
        reverified(store, one, "again", replies)
    reverified(store, other, "again", [accept(), ModelFailed("server", "down")])
    children = children_of(Reader(store), "again")

    assert [len(children[name][1]) for name in (one, other)] == [2, 1]
    assert children[one][1][0].verifier.name == "second"
    assert ended_of(children, [(other, 1)])[other, 1] == Outcome("completed", "reviewed")
    assert ended_of(children, [("empty", 1)]) == {
        (one, 1): Outcome("completed", "reviewed"),
        (other, 1): Outcome("failed", "model_strong_server"),
        ("empty", 1): Outcome("completed", "nothing_to_review"),
    }
