"""What proves a log: the leaves of its Merkle tree, and the proofs that are left of erased bodies.

With them an index for the ledger over all tools, and the names of two more records of the administrative log.
"""

import sqlalchemy as sa
from alembic import op

from spectrace.store.triggers import assert_triggers

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

FIRST_NUMBER = 40
TYPES = ("admin.erased", "admin.key_changed")

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the tables, the index, and the names that no later spectrace has brought along already."""
    op.create_table(
        "leaves",
        sa.Column("place", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("episode", NAME, nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("place", name="pk_leaves"),
    )
    op.create_index("ix_leaves_episode", "leaves", ["episode"])
    op.create_table(
        "erasures",
        sa.Column("key", BIG, autoincrement=False, nullable=False),
        sa.Column("proof", sa.LargeBinary(32), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_erasures"),
    )
    op.create_index("ix_actions_requested_at_drafted_at", "actions", ["requested_at", "drafted_at"])
    types = sa.table("types", sa.column("number", sa.SmallInteger), sa.column("name", sa.String))
    held = set(op.get_bind().scalars(sa.select(types.c.name)))
    new = [{"number": number, "name": name} for number, name in enumerate(TYPES, FIRST_NUMBER) if name not in held]
    op.bulk_insert(types, new)
    assert_triggers(op.get_bind())
