import pytest

from spectrace.store.tables import metadata


def test_the_tables_are_those_of_the_design():
    assert set(metadata.tables) == {
        "actions",
        "blobs",
        "checkpoints",
        "dictionaries",
        "epochs",
        "episodes",
        "erasures",
        "events",
        "leaves",
        "run_items",
        "runs",
        "search",
        "segments",
        "summaries",
        "tools",
        "types",
    }


@pytest.mark.parametrize("table", metadata.tables.values(), ids=lambda table: table.name)
def test_every_constraint_and_index_has_a_name(table):
    assert all(item.name for item in (*table.constraints, *table.indexes))
