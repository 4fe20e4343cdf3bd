from spectrace.core.types import Effect
from spectrace.testing.desk import TOOLS


def test_the_desk_has_two_reads_one_of_them_external_and_a_write():
    assert [(tool.name, tool.effect, tool.external) for tool in TOOLS] == [
        ("look", Effect.READ, False),
        ("search", Effect.READ, True),
        ("change", Effect.WRITE, False),
    ]
